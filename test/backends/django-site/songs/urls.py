from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.views.decorators.cache import cache_control

from tidemark.django import purge, tag

from .models import Song


def tagged_title(pk):
    """A row's code, which knows nothing of the request."""
    song = get_object_or_404(Song, pk=pk)
    tag(f"song:{song.pk}")
    return song.title


@cache_control(public=True, max_age=0, s_maxage=3600)
def song(request, pk):
    if request.method == "POST":
        row = get_object_or_404(Song, pk=pk)
        row.title = request.POST["title"]
        row.save()
        row.save()
        if request.POST.get("fail"):
            raise RuntimeError("after the change")
        return HttpResponseRedirect(f"/songs/{pk}")
    return HttpResponse(tagged_title(pk))


# Django runs no async view in ATOMIC_REQUESTS.
@transaction.non_atomic_requests
@cache_control(public=True, max_age=0, s_maxage=3600)
async def async_song(request, pk):
    if request.method == "POST":
        row = await Song.objects.aget(pk=pk)
        row.title = request.POST["title"]
        await row.asave()
        return HttpResponseRedirect(f"/async/{pk}")
    return HttpResponse(await sync_to_async(tagged_title)(pk))


@cache_control(public=True, max_age=0, s_maxage=3600)
def listing(request):
    tag("songs")
    response = HttpResponse(", ".join(Song.objects.order_by("pk").values_list("title", flat=True)))
    response["Cache-Tag"] = "own, songs"
    return response


def streamed(request):
    def body():
        yield "head. "
        try:
            tag("late")
        except RuntimeError as error:
            yield str(error)

    tag("early")
    return StreamingHttpResponse(body())


@transaction.non_atomic_requests
def partly(request):
    """Commits one change, and rolls another back."""
    with transaction.atomic():
        purge(tags=["committed"])
    try:
        with transaction.atomic():
            purge(tags=["rolled-back"])
            raise RuntimeError("in the second transaction")
    except RuntimeError:
        pass
    return HttpResponse("done")


urlpatterns = [
    path("songs/", listing),
    path("songs/<int:pk>", song),
    path("async/<int:pk>", async_song),
    path("streamed", streamed),
    path("partly", partly),
]
