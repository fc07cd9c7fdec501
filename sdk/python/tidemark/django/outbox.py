"""The purges that wait in the databases of the changes, and how they are sent.

Each is sent at least once, and always with the same id, so that the edge carries it out once. Any number of processes may
send from the same table.
"""

import logging
import math
import random
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connections, router
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from ..items import KINDS, MAX_BYTES, MAX_ITEMS, bytes_of
from ..purger import PurgeFailed, Purger, Receipt
from .models import QueuedPurge

logger = logging.getLogger("tidemark.django")

LEASE = timedelta(seconds=30)
"""A process that takes purges and is killed holds them up for as long."""
HOLD = timedelta(seconds=2)
"""So long a process keeps a purge whose request waits for the receipt from the others, which send it if it is killed."""
MAX_ROWS = 500
"""The rows that go in one request."""
MAX_FAILURES = 500
MAX_PAUSE_SECONDS = 60.0
"""Also the longest Retry-After that counts: the edge may be well long before."""
MAX_AHEAD = LEASE + timedelta(seconds=MAX_PAUSE_SECONDS)
"""No right clock writes a later due time. It has passed: the clock was ahead when it was written."""

Key = tuple[str, int]
"""The database of a queued purge, and its primary key."""


def databases() -> list[str]:
    """Those that should have a table of queued purges, by the project's routers. Replicas hold the rows of another one."""
    mine = [alias for alias in connections if connections.settings[alias].get("TEST", {}).get("MIRROR") is None]
    return [alias for alias in mine if router.allow_migrate_model(alias, QueuedPurge)]


@dataclass(frozen=True)
class Attempt:
    """One request to the edge."""

    keys: list[Key]
    receipt: Receipt | None
    failure: PurgeFailed | None


def send_due(using: str, purger: Purger, own: list[int] | None = None) -> Iterator[Attempt]:
    """Sends what is due in a database, until a failure that the rest would meet, too, and wait as long for.

    Of what is held it sends only its `own`; with None, as a command, all of it.
    """
    connections[using].close_if_unusable_or_obsolete()
    parts = [Q(pk__in=own[start : start + MAX_ROWS]) for start in range(0, len(own), MAX_ROWS)] if own else []
    for held in parts or [Q() if own is None else Q(pk__in=[])]:
        while (attempt := send_next(using, purger, held)) is not None:
            yield attempt
            if attempt.failure is not None and not attempt.failure.refused:
                return


def send_next(using: str, purger: Purger, held: Q = Q()) -> Attempt | None:
    """Sends the purges that have waited longest, as many as go in one request. None if nothing is due."""
    rows = _taken(using, held)
    if not rows:
        return None
    keys = [(using, row.pk) for row in rows]
    request_id = rows[0].request_id
    ours = QueuedPurge.objects.using(using).filter(request_id=request_id)
    try:
        receipt = purger.purge(**_together(rows), id=str(request_id))
    except Exception as error:
        # Of any kind: whatever stops one purge must not stop the next.
        unknown = PurgeFailed(f"{type(error).__name__}: {error}", passing=True)
        failure = error if isinstance(error, PurgeFailed) else unknown
        _after_failure(ours, rows, failure)
        return Attempt(keys, None, failure)
    ours.delete()
    logger.info("Purge %s was accepted", receipt.seq)
    return Attempt(keys, receipt, None)


def seconds_until_due(using: str) -> float:
    """Until one of the purges that wait may be sent; infinite if none waits."""
    next_at = QueuedPurge.objects.using(using).filter(given_up=False).aggregate(Min("next_at"))["next_at__min"]
    return math.inf if next_at is None else max(0.0, (next_at - timezone.now()).total_seconds())


def _taken(using: str, held: Q = Q()) -> list[QueuedPurge]:
    """Takes purges for `LEASE`. Each of the updates takes only what no other process has taken meanwhile."""
    while True:
        now = timezone.now()
        is_due = Q(next_at__lte=now) | Q(next_at__gt=now + MAX_AHEAD) | Q(held, request_id=None)
        due = QueuedPurge.objects.using(using).filter(is_due, given_up=False)
        first = due.order_by("next_at", "id").first()  # so that one that fails is not tried before all others each time
        if first is None:
            return []
        if first.request_id is None:
            request_id = uuid.uuid4()
            fitting = [row.pk for row in _fitting(due.filter(request_id=None).order_by("id")[:MAX_ROWS])]
            free = due.filter(request_id=None, pk__in=fitting)
        else:
            request_id = first.request_id
            free = due.filter(request_id=request_id)
        if free.update(request_id=request_id, next_at=now + LEASE):
            return list(QueuedPurge.objects.using(using).filter(request_id=request_id).order_by("id"))


def _fitting(rows: Iterable[QueuedPurge]) -> list[QueuedPurge]:
    """The first of these rows that fit in one request, and at least one."""
    fitting: list[QueuedPurge] = []
    count = size = 0
    for row in rows:
        named = [item for kind in KINDS for item in row.items.get(kind, ())]
        count, size = count + len(named), size + sum(map(bytes_of, named))
        if fitting and (count > MAX_ITEMS or size > MAX_BYTES):
            break
        fitting.append(row)
    return fitting


def _together(rows: list[QueuedPurge]) -> dict[str, Any]:
    """The same items for the same rows, whoever sends them: the edge refuses another purge with an id that it knows."""
    if any("everything" in row.items for row in rows):
        return {"everything": True}
    return {kind: list(dict.fromkeys(item for row in rows for item in row.items.get(kind, ()))) for kind in KINDS}


def _after_failure(ours: "QuerySet[QueuedPurge]", rows: list[QueuedPurge], failure: PurgeFailed) -> None:
    words = str(failure).replace("\0", "")[:1000]  # PostgreSQL keeps no NUL
    if failure.refused and len(rows) > 1:
        return _separate(ours, rows, next_at=timezone.now(), last_error=words)
    failures = rows[0].failures + 1
    if failure.refused or failures >= MAX_FAILURES:
        ours.update(given_up=True, failures=failures, last_error=words)
        logger.error("The purge is given up, and pages may be stale: %s (%.500s)", failure, _named(rows))
        return
    own_pause = min(MAX_PAUSE_SECONDS, 2.0 ** (failures - 1)) * random.uniform(0.5, 1)
    pause = max(own_pause, min(MAX_PAUSE_SECONDS, failure.retry_after))
    later = {"failures": failures, "last_error": words, "next_at": timezone.now() + timedelta(seconds=pause)}
    if failure.blocked and len(rows) > 1:
        _separate(ours, rows, **later)
    else:
        ours.update(**later)
    logger.warning("The purge failed and is sent again in %.1f s: %s", pause, failure)


def _separate(ours: "QuerySet[QueuedPurge]", rows: list[QueuedPurge], **changes: Any) -> None:
    """One of them may be why the others were not accepted: from now on each goes alone."""
    for row in rows:
        ours.filter(pk=row.pk).update(request_id=uuid.uuid4(), **changes)


def _named(rows: list[QueuedPurge]) -> str:
    items = _together(rows)
    return "everything" if "everything" in items else ", ".join(item for kind in KINDS for item in items[kind])
