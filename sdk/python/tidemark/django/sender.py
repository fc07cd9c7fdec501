"""The threads of a process that send what is committed."""

import atexit
import logging
import os
import threading
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from django.db import connections

from ..purger import Receipt
from . import configuration
from .outbox import Attempt, Key, databases, seconds_until_due, send_due
from .troubles import Troubles

logger = logging.getLogger("tidemark.django")

POLL_SECONDS = 5.0
"""So often a thread looks for purges whose time has come, and for those of processes that are gone."""
EXIT_SECONDS = 2.0
"""At most so long a process that ends, as a script does, lets the threads send what was committed."""


class Sender:
    """It starts when a process has built the middleware, or with its first request or commit.

    Each database has a thread of its own, so that one that does not answer holds up no purges of the others.
    """

    def __init__(self) -> None:
        self._begin()
        # A child has none of its parent's threads, and perhaps a lock that one of them held.
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._finish)

    def _begin(self) -> None:
        self._threads: dict[str, threading.Thread] = {}
        self._changed = threading.Condition()
        self._is_failing = False
        # The keys of each database that its thread has not begun to look for, and the databases where it has not ended.
        self._committed: dict[str, list[int]] = {}
        self._unfinished: set[str] = set()
        # Counted, because SQLite gives the key of what one request has rolled back to the purge of another.
        self._awaited: Counter[Key] = Counter()
        self._receipts: dict[Key, Receipt | None] = {}
        self._waiting: dict[Future[Receipt | None], list[Key]] = {}
        self._said = ""
        self._troubles = Troubles(logger.error)

    def start(self) -> None:
        with self._changed:
            if self._threads and all(each.is_alive() for each in self._threads.values()):
                return
            try:
                found = databases()
            except Exception as error:
                return self._say(error)
            for using in found:
                if using not in self._threads or not self._threads[using].is_alive():
                    name = f"tidemark-sender-{using}"
                    self._threads[using] = threading.Thread(target=self._run, args=(using,), name=name, daemon=True)
                    self._threads[using].start()

    def expect(self, keys: Iterable[Key]) -> None:
        """Somebody will ask for the receipts of these, or `forget` them."""
        with self._changed:
            self._awaited.update(keys)

    def forget(self, keys: Iterable[Key]) -> None:
        with self._changed:
            for key in keys:
                self._awaited[key] -= 1
                if self._awaited[key] <= 0:
                    del self._awaited[key]
                    self._receipts.pop(key, None)

    def wake(self, keys: Iterable[Key]) -> None:
        """These were committed, and this process may hold them."""
        with self._changed:
            for using, key in keys:
                # What was written by a second name of a database, its MIRROR, is found under the first.
                if using in self._threads or not self._threads:
                    self._committed.setdefault(using, []).append(key)
                    self._unfinished.add(using)
            self._changed.notify_all()
        self.start()

    def receipt(self, keys: Iterable[Key]) -> Future[Receipt | None]:
        """The receipt of the last of these purges; None if one of them is not accepted, or there are none.

        While the edge fails, nobody waits for it.
        """
        asked: Future[Receipt | None] = Future()
        with self._changed:
            self._waiting[asked] = list(keys)
            asked.add_done_callback(lambda _: self._waiting.pop(asked, None))
            self._answer(asked)
        return asked

    def _answer(self, asked: Future[Receipt | None]) -> None:
        """If the answer is known by now."""
        keys = self._waiting.get(asked, [])
        if self._is_failing or all(key in self._receipts for key in keys):
            accepted = [each for each in map(self._receipts.get, keys) if each is not None]
            newest = max(accepted, key=lambda each: each.seq, default=None)
            with suppress(InvalidStateError):  # the request has left
                asked.set_result(newest if len(accepted) == len(keys) else None)

    def _run(self, using: str) -> None:
        pause = POLL_SECONDS
        while True:
            # It waits before its first look, too, because a server forks its workers then, and the child of a busy process
            # may hang. Nothing protects workers that are forked later.
            with self._changed:
                if using not in self._committed and using in self._unfinished:
                    self._unfinished.remove(using)
                    self._changed.notify_all()
                self._changed.wait_for(lambda: using in self._committed, pause)
                own = self._committed.pop(using, [])
            pause = POLL_SECONDS
            try:
                pause = self._send(using, own)
                self._said = ""
                if pause == POLL_SECONDS:
                    connections.close_all()  # those of this thread, which has nothing to do
            except Exception as error:
                self._say(error)

    def _finish(self) -> None:
        """What is not sent by then is left to the other processes. Ctrl-C ends the wait."""
        with suppress(KeyboardInterrupt), self._changed:
            self._changed.wait_for(lambda: self._unfinished.isdisjoint(self._threads), EXIT_SECONDS)

    def _send(self, using: str, own: list[int]) -> float:
        """Sends what is due in a database. In how many seconds to look again."""
        if configuration.is_off():
            return POLL_SECONDS
        purger = configuration.purger()
        with self._troubles.of(using):
            for attempt in send_due(using, purger, own):
                self._tell(attempt)
            return min(POLL_SECONDS, seconds_until_due(using))
        return POLL_SECONDS

    def _tell(self, attempt: Attempt) -> None:
        with self._changed:
            failure = attempt.failure
            self._is_failing = failure is not None and not (failure.refused or failure.blocked)
            for key in attempt.keys:
                if key in self._awaited:
                    self._receipts[key] = attempt.receipt
            for asked in list(self._waiting):
                self._answer(asked)

    def _say(self, error: Exception) -> None:
        """Once, and not as often as it looks again."""
        words = f"Purges wait, because none can be sent: {error}"
        if words != self._said:
            logger.error(words)
        self._said = words


sender = Sender()
