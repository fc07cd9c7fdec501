"""What `manage.py check` says of a project."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import connections

from . import configuration
from .changes import PurgedModel, PurgedQuerySet, registered_models


def settings_are_complete(**_: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if configuration.sender() not in ("thread", "command"):
        hint = 'Use "thread", or "command" where manage.py send_purges --watch runs.'
        found.append(Error("TIDEMARK_SENDER is neither.", hint=hint, id="tidemark.E001"))
    if not configuration.is_off():
        try:
            configuration.purger()
        except ValueError as error:
            hint = "TIDEMARK_ENDPOINT = None switches purges off."
            found.append(Warning(f"Purges wait, because none can be sent: {error}.", hint=hint, id="tidemark.W003"))
    return found


def sqlite_writers_wait(**_: Any) -> list[CheckMessage]:
    """Of two transactions that read before they write, SQLite fails one, unless each begins as a writer."""
    return [
        Warning(
            f'The sender\'s thread and requests both write to the SQLite database "{alias}": some fail as "locked".',
            hint='"OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20}, or TIDEMARK_SENDER = "command".',
            id="tidemark.W002",
        )
        for alias in connections
        if connections[alias].vendor == "sqlite"
        and configuration.has_thread()
        and connections.settings[alias].get("OPTIONS", {}).get("transaction_mode", "DEFERRED").upper() == "DEFERRED"
    ]


def no_cache_keeps_pages(**_: Any) -> list[CheckMessage]:
    """Of `cache_page`, which does the same around one view, nothing can be seen."""
    return [
        Warning(
            f"{name} keeps pages: after a purge Django answers with the old one again, and without its tags.",
            hint="Leave it out of MIDDLEWARE, and cache_page off the views: the edge keeps their pages.",
            id="tidemark.W005",
        )
        for name in ("UpdateCacheMiddleware", "CacheMiddleware")
        if f"django.middleware.cache.{name}" in settings.MIDDLEWARE
    ]


def saves_are_atomic(**_: Any) -> list[CheckMessage]:
    """Django sends `post_save` after the transaction of `save_base`, so that in autocommit a kill in between loses the purge."""
    return [
        Warning(
            f"A process that is killed while it saves a {model.__name__} outside of a transaction can lose the purge.",
            hint=f"class {model.__name__}(tidemark.django.PurgedModel): … or save it inside of transaction.atomic().",
            obj=model,
            id="tidemark.W001",
        )
        for model in registered_models()
        if not issubclass(model, PurgedModel)
    ]


def relations_purge(**_: Any) -> list[CheckMessage]:
    """`album.song_set.add(song)` updates the song by the base manager of its model."""
    return [
        Warning(
            f"add() and set() of a related manager purge no {model.__name__}.",
            hint='objects = PurgedQuerySet.as_manager(), and in class Meta: base_manager_name = "objects".',
            obj=model,
            id="tidemark.W004",
        )
        for model in registered_models()
        if not _relations_purge(model)
    ]


def _relations_purge(model: Any) -> bool:
    has_relations = any(field.many_to_one for field in model._meta.get_fields())
    return not has_relations or isinstance(model._base_manager.all(), PurgedQuerySet)


def parents_purge(**_: Any) -> list[CheckMessage]:
    """A row of a model is changed by each model that it extends, too."""
    return [
        Warning(
            f"Changes of a {parent.__name__}, which {model.__name__} extends, can lose the purge of the {model.__name__}.",
            hint=f"class {parent.__name__}(PurgedModel): …, with a PurgedQuerySet as its manager and its base manager.",
            obj=parent,
            id="tidemark.W006",
        )
        for model in registered_models()
        for parent in model._meta.all_parents
        if not issubclass(parent, PurgedModel)
        or not isinstance(parent._default_manager.all(), PurgedQuerySet)
        or not _relations_purge(parent)
    ]
