"""Purges the Tidemark edge in front of a Django site after the commit, and tags its pages.

    MIDDLEWARE = ["tidemark_django.middleware", ...]  # the first
    TIDEMARK_ENDPOINT = "https://www.example.com"  # the site's origin; None switches purges off
    TIDEMARK_TOKEN = os.environ["TIDEMARK_TOKEN"]  # a token with the scope "purge"

Both are read from the environment where the settings do not have them.
"""

import asyncio
import http.client
import json
import logging
import math
import os
import random
import re
import threading
import time
import uuid
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.db import transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.utils.decorators import sync_and_async_middleware

__all__ = ["PurgeFailed", "batch", "middleware", "purge", "purge_on_change", "tag"]

logger = logging.getLogger("tidemark_django")

KINDS = ("urls", "tags", "prefixes", "hosts")

MAX_PURGE_ITEMS = 10_000
MAX_PURGE_BYTES = 4_000_000
"""The edge accepts 4 MiB; the rest is for the names of the fields, the id and the reason."""

MAX_TAG_FIELD_BYTES = 64 * 1024
"""The edge answers 502 to a response whose fields have more bytes (`limits.responseFieldBytes`)."""

COOKIE = "tidemark-after"
COOKIE_MARGIN_SECONDS = 5

_VALID_TAG = re.compile(r"[!-+\--~]{1,256}")

_request = ContextVar("tidemark_request", default=None)
_batch = ContextVar("tidemark_batch", default=None)


class PurgeFailed(Exception):
    """A purge that was not accepted. `retryable` is true if the same purge can succeed later."""

    def __init__(self, message, retryable, retry_after=0.0):
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


# The tags of a response


class _ResponseTags:
    """The tags that a request has collected for its response, until the head of the response is made."""

    def __init__(self):
        self.tags = {}
        self.is_over = False
        # An async view may call into several threads at once.
        self._lock = threading.Lock()

    def add(self, tags):
        with self._lock:
            self._add(tags)

    def _add(self, tags):
        if self.is_over:
            raise RuntimeError(f"tag: the head of this response has been made, so {tags[0]!r} would not be on it")
        together = self.tags | dict.fromkeys(tags)
        most = _setting("TIDEMARK_MAX_TAGS", 1000)
        size = sum(len(each) + 1 for each in together)
        if len(together) > most or size > MAX_TAG_FIELD_BYTES:
            raise ValueError(
                f"tag: this response would have {len(together)} tags of {size} bytes. The edge stores none with more than "
                f"{most} tags, and answers 502 to one with more than {MAX_TAG_FIELD_BYTES} bytes of fields. Name what the "
                "page is a list of in one tag."
            )
        self.tags = together

    def write(self, response):
        with self._lock:
            self.is_over = True
        if self.tags:
            held = dict.fromkeys(each for each in re.split(r"[\s,]+", response.get("Cache-Tag", "")) if each)
            response["Cache-Tag"] = ",".join(held | self.tags)


def tag(*tags):
    """Adds tags to the response of the current request, from anywhere below the middleware: `tag("song-42", "songs")`.

    It adds all of them or none. A tag that the edge would not take, or too many of them, is a ValueError. A call outside
    of a request, or after the head of the response was made, is a RuntimeError: the page would be stored and could not
    be purged by the tag.
    """
    tags = _checked_tags("tag", tags)
    collected = _request.get()
    if collected is None:
        raise RuntimeError("tag: this code runs outside of a request, or tidemark_django.middleware is not in MIDDLEWARE")
    if tags:
        collected.add(tags)


def _checked_tags(caller, tags):
    for each in tags:
        if not isinstance(each, str) or not _VALID_TAG.fullmatch(each):
            raise ValueError(
                f"{caller}: {each!r} is not a valid tag: it must be printable ASCII without spaces and commas, "
                "at most 256 bytes"
            )
    return list(tags)


# The purges of changes


class _Batch:
    """The items whose changes are committed. It may be filled by several threads."""

    def __init__(self):
        self._items = {kind: {} for kind in KINDS}
        self._everything = False
        self._is_over = False
        self._lock = threading.Lock()

    def add(self, items):
        """False if the batch is over: then the caller has to send the items."""
        with self._lock:
            if self._is_over:
                return False
            for kind in KINDS:
                self._items[kind].update(dict.fromkeys(items.get(kind, ())))
            self._everything = self._everything or bool(items.get("everything"))
            return True

    def close(self):
        """The purges to send, each within the limits of one."""
        with self._lock:
            self._is_over = True
            if self._everything:
                return [{"everything": True}]
            return list(_divided([(kind, item) for kind in KINDS for item in self._items[kind]]))


def _divided(items):
    purge_body, count, size = {}, 0, 0
    for kind, item in items:
        bytes_of_item = len(json.dumps(item)) + 2
        if count == MAX_PURGE_ITEMS or (count and size + bytes_of_item > MAX_PURGE_BYTES):
            yield purge_body
            purge_body, count, size = {}, 0, 0
        purge_body.setdefault(kind, []).append(item)
        count, size = count + 1, size + bytes_of_item
    if count:
        yield purge_body


def purge(*, tags=(), urls=(), prefixes=(), hosts=(), everything=False, using=None):
    """Purges after the commit of the current transaction of the database `using`, or at once if there is none.

    After a rollback nothing is purged, also if only the block around this call was rolled back. What a request has
    committed goes out as one purge when its view has answered; outside of a request that is what `batch` does, and without
    one each call is a purge of its own. A failure is logged after several attempts, and never raised: the change is
    committed.
    """
    given = {"urls": urls, "tags": tags, "prefixes": prefixes, "hosts": hosts}
    for kind, value in given.items():
        if isinstance(value, str):
            raise TypeError(f"purge: {kind} must be a list, not the text {value!r}")
    items = {kind: [str(each) for each in value] for kind, value in given.items()}
    _checked_tags("purge", items["tags"])
    for url in items["urls"]:
        if not re.match(r"/|https?://", url):
            raise ValueError(f"purge: {url!r} must be a path that starts with /, or a whole URL")
    if everything:
        items = {"everything": True}
    elif not any(items.values()):
        return
    transaction.on_commit(lambda: _committed(items), using=using, robust=True)


def _committed(items):
    current = _batch.get()
    if current is None or not current.add(items):
        alone = _Batch()
        alone.add(items)
        _send_all(alone.close())


@contextmanager
def batch():
    """Sends what is committed inside as one purge at its end, for commands and jobs: `with tidemark_django.batch(): …`.

    What was committed before an error is sent, too. Inside of a request or of another batch it adds nothing.
    """
    if _batch.get() is not None:
        yield
        return
    current = _Batch()
    previous = _batch.set(current)
    try:
        yield
    finally:
        _batch.reset(previous)
        _send_all(current.close())


@sync_and_async_middleware
def middleware(get_response):
    """Tags the responses, sends what their requests have committed as one purge before the answer leaves, and gives the
    editor the cookie with which the edge shows nothing older than that purge.

    It has to be the first of MIDDLEWARE, so that those after it neither drop its field nor commit behind its back.
    """

    def begin():
        collected, current = _ResponseTags(), _Batch()
        return collected, current, _request.set(collected), _batch.set(current)

    def end(_, current, request_token, batch_token):
        _request.reset(request_token)
        _batch.reset(batch_token)
        return current.close()

    def answer(response, collected, receipt):
        collected.write(response)
        if receipt and receipt["token"]:
            seconds = math.ceil(receipt["settlesInMs"] / 1000) + COOKIE_MARGIN_SECONDS
            response.set_cookie(COOKIE, receipt["token"], max_age=seconds, httponly=True, samesite="Lax")
        return response

    if iscoroutinefunction(get_response):

        async def respond(request):
            state = begin()
            try:
                response = await get_response(request)
            finally:
                purges = end(*state)
                receipt = await asyncio.to_thread(_send_all, purges) if purges else None
            return answer(response, state[0], receipt)

    else:

        def respond(request):
            state = begin()
            try:
                response = get_response(request)
            finally:
                receipt = _send_all(end(*state))
            return answer(response, state[0], receipt)

    return respond


# Models


def purge_on_change(model, tags, *, former=True):
    """Purges the tags of each row of a model that is saved, deleted, or joined to another by a many-to-many field.

        purge_on_change(Song, lambda song: [f"song-{song.pk}", f"album-{song.album_id}"])

    With `former`, the row as it was is read before it is saved, so that a song that moves to another album is gone from
    the page of the one it left. It costs a query; without it only the new tags are purged. Where two transactions may move
    one row at the same time, lock it first (`select_for_update`), or the second does not see what the first has made of it.

    Django sends no signals for `update`, `bulk_create`, `bulk_update`, raw SQL and rows of an explicit through model: call
    `purge` there, or register the through model. Fixtures (`loaddata`) are left out.
    """

    def tags_of(rows):
        return list(dict.fromkeys(each for row in rows for each in tags(row)))

    def purge_rows(rows, using):
        purge(tags=tags_of(rows), using=using)

    # No receiver names a sender: proxies of the model and models that extend it are rows of it, too.

    def before_save(instance, raw, using, **_):
        # Only read: outside of a transaction a purge would go out at once, before the row is saved.
        if former and isinstance(instance, model) and not raw and instance.pk is not None:
            rows = model._base_manager.using(using).filter(pk=instance.pk)
            instance.__dict__.setdefault("_tidemark_former_tags", {})[registration] = tags_of(rows)

    def after_save(instance, raw, using, **_):
        if isinstance(instance, model) and not raw:
            old = instance.__dict__.get("_tidemark_former_tags", {}).pop(registration, [])
            purge(tags=dict.fromkeys([*old, *tags_of([instance])]), using=using)

    def after_delete(instance, using, **_):
        if isinstance(instance, model):
            purge_rows([instance], using)

    def after_relation(sender, instance, action, using, **changed):
        if action not in ("post_add", "post_remove", "pre_clear"):
            return
        if isinstance(instance, model):
            purge_rows([instance], using)
        if issubclass(changed["model"], model):
            purge_rows(_other_side(sender, instance, using, **changed), using)

    registration = f"{model._meta.label} {id(after_save)}"
    for signal, receiver in (
        (pre_save, before_save),
        (post_save, after_save),
        (post_delete, after_delete),
        (m2m_changed, after_relation),
    ):
        # Not weakly: nobody else holds the receivers.
        signal.connect(receiver, weak=False)


def _other_side(through, instance, using, *, model, reverse, pk_set, **_):
    """The rows that a call on the many-to-many field of an instance joins to it or lets go; without `pk_set`, all of them."""
    rows = model._base_manager.using(using)
    if pk_set is not None:
        return rows.filter(pk__in=pk_set)
    owner = model if reverse else type(instance)
    field = next(each for each in owner._meta.many_to_many if each.remote_field.through is through)
    return rows.filter(**{field.name: instance}) if reverse else getattr(instance, field.name).using(using).all()


# Sending


class _NoRedirects(HTTPRedirectHandler):
    """urllib follows a redirected POST with a GET, whose answer is no receipt."""

    def redirect_request(self, *_):
        return None


_opener = build_opener(_NoRedirects)


def _send_all(purges):
    """Sends purges one after another, and logs those that fail. The receipt of the last one that was accepted, or None."""
    receipt, given_up = None, None
    for body in purges:
        try:
            if given_up:
                raise given_up
            receipt = _send(body)
        except PurgeFailed as failure:
            # The next ones would fail as well, and wait as long for it. One that was refused says nothing of the others.
            given_up = failure if failure.retryable else None
            items = "everything" if "everything" in body else ", ".join(item for kind in body.values() for item in kind)
            logger.error("The purge failed, and pages may be stale: %s (%.500s)", failure, items)
    return receipt


def _send(body):
    """Sends one purge, again after failures that can pass, always with the same id: then it happens once."""
    edge = _edge()
    if edge is None:
        return None
    retries = _setting("TIDEMARK_RETRIES", 4)
    give_up_at = time.monotonic() + _setting("TIDEMARK_DEADLINE_SECONDS", 10)
    body = {**body, "id": str(uuid.uuid4())}
    attempt = 0
    while True:
        try:
            receipt = _post(edge, body, max(0.001, give_up_at - time.monotonic()))
            logger.info("Purge %s was accepted", receipt["seq"])
            return receipt
        except PurgeFailed as failure:
            pause = failure.retry_after + min(2.0, 0.2 * 2**attempt) * random.uniform(0.5, 1)
            if not failure.retryable or attempt >= retries or time.monotonic() + pause >= give_up_at:
                raise
            attempt += 1
            logger.warning("The purge failed and is sent again in %.1f s: %s", pause, failure)
            time.sleep(pause)


def _post(edge, body, timeout):
    endpoint, token = edge
    fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(f"{endpoint}/_tidemark/purge", json.dumps(body).encode(), fields)
    try:
        with _opener.open(request, timeout=timeout) as answer:
            receipt = json.load(answer)
            if isinstance(receipt, dict) and isinstance(receipt.get("seq"), int) and "token" in receipt:
                return receipt
            raise PurgeFailed("the answer did not come from a Tidemark edge; check TIDEMARK_ENDPOINT", retryable=False)
    except HTTPError as refusal:
        # A proxy in between can answer with anything.
        words = refusal.read(1000).decode("utf-8", "replace")
        raise PurgeFailed(
            f"the edge answered with {refusal.code}: {words}",
            retryable=refusal.code in (429, 502, 503, 504),
            retry_after=_seconds(refusal.headers.get("Retry-After")),
        ) from refusal
    except (URLError, OSError, http.client.HTTPException) as failure:
        raise PurgeFailed(f"the edge cannot be reached: {failure}", retryable=True) from failure
    except ValueError as failure:
        raise PurgeFailed(f"the answer is not JSON: {failure}", retryable=True) from failure


def _seconds(retry_after):
    """A date in Retry-After counts as none: the pauses grow anyway."""
    return float(retry_after) if retry_after and re.fullmatch(r"\d{1,6}", retry_after) else 0.0


def _edge():
    """Endpoint and token; None if purges are switched off. The messages never repeat a value, which may be the token."""
    endpoint = _setting("TIDEMARK_ENDPOINT", "")
    token = _setting("TIDEMARK_TOKEN", "")
    if endpoint is None:
        return None
    if not endpoint or not token:
        raise PurgeFailed(
            "set TIDEMARK_ENDPOINT to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a token of "
            "its edge; TIDEMARK_ENDPOINT = None switches purges off",
            retryable=False,
        )
    parts = urlsplit(endpoint)
    is_origin = parts.scheme in ("http", "https") and parts.netloc and parts.path in ("", "/")
    if not is_origin or parts.query or parts.fragment or "@" in parts.netloc:
        raise PurgeFailed("TIDEMARK_ENDPOINT is not an origin like https://www.example.com", retryable=False)
    if not re.fullmatch(r"[!-~]+", token):
        raise PurgeFailed("TIDEMARK_TOKEN holds characters that cannot be sent", retryable=False)
    return f"{parts.scheme}://{parts.netloc}", token


def _setting(name, default):
    value = getattr(settings, name, os.environ.get(name) if isinstance(default, str) else default)
    return default if value == "" or (value is None and not hasattr(settings, name)) else value
