from django.db import models

from tidemark.django import PurgedModel, PurgedQuerySet, purge_on_change


class Album(models.Model):
    title = models.CharField(max_length=100)


class Genre(PurgedModel):
    name = models.CharField(max_length=100)


class Song(PurgedModel):
    title = models.CharField(max_length=100)
    album = models.ForeignKey(Album, null=True, on_delete=models.CASCADE)
    genres = models.ManyToManyField(Genre)

    objects = PurgedQuerySet.as_manager()

    class Meta:
        base_manager_name = "objects"


class Event(PurgedModel):
    event_id = models.AutoField(primary_key=True)
    seats = models.IntegerField()


class Concert(Album, Event):
    """Its own key is that of its album."""


class Tour(Event):
    pass


class LoudSong(Song):
    class Meta:
        proxy = True

    def loudly(self):
        return self.title.upper()


class Single(Song):
    pass


def first_genre():
    return Genre.objects.order_by("pk").first()


class Review(PurgedModel):
    """It outlives what it is about."""

    author = models.CharField(max_length=100)
    song = models.ForeignKey(Song, null=True, on_delete=models.SET_NULL)
    genre = models.ForeignKey(Genre, null=True, on_delete=models.SET(first_genre))

    objects = PurgedQuerySet.as_manager()

    class Meta:
        base_manager_name = "objects"
        constraints = [models.UniqueConstraint(fields=["author", "song"], name="once_a_song")]


class Interview(Review):
    pass


purge_on_change(Song, lambda song: [f"song:{song.pk}", f"album:{song.album_id}", "songs"])
purge_on_change(Event, lambda event: [f"event:{event.event_id}", f"seats:{event.seats}"])
purge_on_change(Genre, lambda genre: [f"genre:{genre.pk}"])
purge_on_change(Review, lambda review: [f"review:{review.pk}", f"about:{review.song_id}", f"within:{review.genre_id}"])
