"""The call that purges, and what a request remembers of it."""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field

from django.db import router, transaction

from ..items import checked_items, divided
from . import configuration
from .models import QueuedPurge
from .outbox import Key
from .sender import sender


@dataclass(frozen=True)
class RequestPurges:
    """What a request has written to the outbox, and what of it is committed."""

    written: list[Key] = field(default_factory=list)
    committed: list[Key] = field(default_factory=list)


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
    rows = [QueuedPurge.objects.using(database).create(items=part) for part in divided(items)]
    keys = [(database, row.pk) for row in rows]
    ours = current.get()
    if ours is not None:
        ours.written.extend(keys)
        sender.expect(keys)
    transaction.on_commit(lambda: _committed(keys, ours), using=database, robust=True)


def _committed(keys: list[Key], ours: RequestPurges | None) -> None:
    if ours is not None:
        ours.committed.extend(keys)
    if configuration.has_thread():
        sender.wake()
