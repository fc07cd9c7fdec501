"""Databases whose purges cannot be sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connections

from .models import QueuedPurge


class Troubles:
    """Keeps the trouble of one database from the others, and tells it once, however often it is met."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._told: dict[str, str] = {}

    @contextmanager
    def of(self, using: str) -> Iterator[None]:
        """Tells what is raised inside, which then is over."""
        try:
            yield
        except Exception as error:
            cause = f"{type(error).__name__}: {error}".strip()
            if self._told.get(using) != cause:
                self._told[using] = cause
                self._tell(f'Queued purges of the database "{using}" cannot be sent: {cause}. {_advice(using)}')
        else:
            self._told.pop(using, None)

    def databases(self) -> list[str]:
        """Those in trouble."""
        return list(self._told)


def _advice(using: str) -> str:
    try:
        has_table = QueuedPurge._meta.db_table in connections[using].introspection.table_names()
    except Exception:
        has_table = True  # nobody can tell
    if has_table:
        return (
            "They are sent once this project can read and write it. If it is a replica, set its "
            '"TEST": {"MIRROR": …} to the database that it follows, which has its purges.'
        )
    return (
        f"It has no table for them: run manage.py migrate --database {using}. If it shall have none, "
        'let allow_migrate of a router return False for it and the app "tidemark".'
    )
