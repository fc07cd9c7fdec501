"""The call that purges, and what a request remembers of it."""

import threading
from collections.abc import Iterable
from contextvars import ContextVar

from django.db import router, transaction
from django.utils import timezone

from ..items import checked_items, divided
from . import configuration
from .models import QueuedPurge
from .outbox import HOLD, Key
from .sender import sender


class RequestPurges:
    """What a request has written to the outbox, and what of it is committed, until its answer is made."""

    def __init__(self) -> None:
        self.written: list[Key] = []
        self.committed: list[Key] = []
        self.is_over = False
        # Work that the request has started may still purge, in any thread.
        self._lock = threading.Lock()

    def expect(self, keys: list[Key]) -> None:
        with self._lock:
            if not self.is_over:
                self.written.extend(keys)
                sender.expect(keys)

    def end(self) -> None:
        with self._lock:
            self.is_over = True


current: ContextVar[RequestPurges | None] = ContextVar("tidemark_request_purges", default=None)


def purge(
    *,
    tags: Iterable[str] = (),
    urls: Iterable[str] = (),
    prefixes: Iterable[str] = (),
    hosts: Iterable[str] = (),
    everything: bool = False,
    using: str | None = None,
) -> None:
    """Purges after the commit of the current transaction of the database `using`, or at once if there is none.

    The purge is a row that is written here: what is rolled back purges nothing, and what is committed is purged, even if
    the process is killed. No failure of the edge is raised. TypeError or ValueError for items that no edge accepts.
    """
    items = checked_items(tags=tags, urls=urls, prefixes=prefixes, hosts=hosts, everything=everything)
    if not items or configuration.is_off():
        return
    database = using or router.db_for_write(QueuedPurge)
    ours = current.get()
    is_awaited = ours is not None and not ours.is_over and configuration.has_thread()
    next_at = timezone.now() + HOLD if is_awaited else timezone.now()
    rows = [QueuedPurge.objects.using(database).create(items=part, next_at=next_at) for part in divided(items)]
    keys = [(database, row.pk) for row in rows]
    if ours is not None:
        ours.expect(keys)
    transaction.on_commit(lambda: _committed(keys, ours), using=database, robust=True)


def _committed(keys: list[Key], ours: RequestPurges | None) -> None:
    if ours is not None:
        ours.committed.extend(keys)
    if configuration.has_thread():
        sender.wake(keys)
