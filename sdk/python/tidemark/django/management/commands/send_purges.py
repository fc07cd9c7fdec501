import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ... import configuration
from ...models import QueuedPurge
from ...outbox import databases, send_next


class Command(BaseCommand):
    help = "Sends the purges that wait for the edge, and ends with 1 if any still wait or were given up."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--watch", type=float, metavar="SECONDS", help="look again after so many seconds, for ever")
        parser.add_argument("--again", action="store_true", help="first take up those that were given up")

    def handle(self, *, watch: float | None, again: bool, **_: Any) -> None:
        if configuration.is_off():
            raise CommandError("TIDEMARK_ENDPOINT is None: this project sends no purges.")
        try:
            purger = configuration.purger()
        except ValueError as error:
            raise CommandError(str(error)) from error
        if again:
            for using in databases():
                held = QueuedPurge.objects.using(using).filter(given_up=True)
                held.update(given_up=False, failures=0)
        while True:
            sent = 0
            for using in databases():
                while (attempt := send_next(using, purger)) is not None:
                    sent += len(attempt.keys) if attempt.receipt is not None else 0
                    if attempt.failure is not None and not attempt.failure.refused:
                        break
            if watch is None:
                break
            time.sleep(watch)
        waiting = sum(QueuedPurge.objects.using(using).filter(given_up=False).count() for using in databases())
        given_up = sum(QueuedPurge.objects.using(using).filter(given_up=True).count() for using in databases())
        self.stdout.write(f"{sent} purges sent, {waiting} wait, {given_up} given up")
        if waiting or given_up:
            raise CommandError("Pages may be stale: the column last_error of tidemark_queued_purge says why.")
