import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from ... import configuration
from ...models import QueuedPurge
from ...outbox import LEASE, databases, send_due
from ...troubles import Troubles


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
        troubles = Troubles(self.stderr.write)
        while True:
            sent = waiting = given_up = failed = 0
            for using in databases():
                with troubles.of(using):
                    rows = QueuedPurge.objects.using(using)
                    if again:
                        rows.filter(given_up=True).update(given_up=False, failures=0, next_at=timezone.now())
                    for attempt in send_due(using, purger):
                        sent += len(attempt.keys) if attempt.receipt is not None else 0
                    waiting += rows.filter(given_up=False).count()
                    given_up += rows.filter(given_up=True).count()
                    failed += rows.exclude(last_error="").count()
            if watch is None:
                break
            again = False
            time.sleep(watch)
        self.stdout.write(f"{sent} purges sent, {waiting} wait, {given_up} given up")
        if failed or given_up:
            raise CommandError("Pages may be stale: the column last_error of tidemark_queued_purge says why.")
        if waiting:
            raise CommandError(
                "Pages may be stale: other processes are sending what waits. "
                f"What a killed one was sending is due within {LEASE.seconds} seconds."
            )
        if troubled := troubles.databases():
            raise CommandError(f"Pages may be stale, because these databases failed: {', '.join(troubled)}.")
