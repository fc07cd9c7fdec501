"""The thread of a process that sends what is committed."""

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
"""So often the thread looks for purges whose time has come, and for those of processes that are gone."""
EXIT_SECONDS = 2.0
"""At most so long a process that ends, as a script does, lets the thread send what was committed."""


class Sender:
    """It starts when a process has built the middleware, or with its first request or commit."""

    def __init__(self) -> None:
        self._begin()
        # A child has none of its parent's threads, and perhaps a lock that one of them held.
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._finish)

    def _begin(self) -> None:
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        self._is_woken = False
        self._is_done = True
        self._is_failing = False
        self._committed: list[Key] = []
        # Counted, because SQLite gives the key of what one request has rolled back to the purge of another.
        self._awaited: Counter[Key] = Counter()
        self._receipts: dict[Key, Receipt | None] = {}
        self._waiting: dict[Future[Receipt | None], list[Key]] = {}
        self._said = ""
        self._troubles = Troubles(logger.error)

    def start(self) -> None:
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="tidemark-sender", daemon=True)
                self._thread.start()

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
            self._committed.extend(keys)
            self._is_woken = True
            self._is_done = False
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

    def _run(self) -> None:
        pause = POLL_SECONDS
        while True:
            # It waits before its first look, too, because a server forks its workers then, and the child of a busy process
            # may hang. Nothing protects workers that are forked later.
            with self._changed:
                self._is_done = not self._committed
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_woken, pause)
                self._is_woken = False
            pause = POLL_SECONDS
            try:
                pause = self._send_all()
                self._said = ""
                if pause == POLL_SECONDS:
                    connections.close_all()  # those of this thread, which has nothing to do
            except Exception as error:
                self._say(f"Purges wait, because none can be sent: {error}")

    def _finish(self) -> None:
        """What is not sent by then is left to the other processes. Ctrl-C ends the wait."""
        with suppress(KeyboardInterrupt), self._changed:
            if self._thread is not None:
                self._changed.wait_for(lambda: self._is_done, EXIT_SECONDS)

    def _send_all(self) -> float:
        """Sends what is due in every database. In how many seconds to look again."""
        pause = POLL_SECONDS
        with self._changed:
            committed, self._committed = self._committed, []
        if configuration.is_off():
            return pause
        purger = configuration.purger()
        for using in databases():
            with self._troubles.of(using):
                for attempt in send_due(using, purger, [key for alias, key in committed if alias == using]):
                    self._tell(attempt)
                pause = min(pause, seconds_until_due(using))
        return pause

    def _tell(self, attempt: Attempt) -> None:
        with self._changed:
            self._is_failing = attempt.failure is not None and not attempt.failure.refused
            for key in attempt.keys:
                if key in self._awaited:
                    self._receipts[key] = attempt.receipt
            for asked in list(self._waiting):
                self._answer(asked)

    def _say(self, words: str) -> None:
        """Once, and not as often as it looks again."""
        if words != self._said:
            logger.error(words)
        self._said = words


sender = Sender()
