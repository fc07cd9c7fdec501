"""The purges of rows that change."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import models, router, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from .purging import purge

TagsOf = Callable[[Any], Iterable[str]]

ROWS_AT_ONCE = 500
"""SQLite takes only so many keys in one query."""

_registered: list[tuple[type[models.Model], TagsOf]] = []


def registered_models() -> list[type[models.Model]]:
    return list(dict.fromkeys(model for model, _ in _registered))


class PurgedModel(models.Model):
    """A model whose rows are saved in one transaction with their purge.

    Without it, in autocommit, Django commits the row before it sends the signal that purges, and a process that is killed
    in between loses the purge.
    """

    class Meta:
        abstract = True

    def save_base(self, *args: Any, using: str | None = None, **kwargs: Any) -> None:
        using = using or router.db_for_write(self.__class__, instance=self)
        with transaction.atomic(using=using, savepoint=False):
            super().save_base(*args, using=using, **kwargs)


class PurgedQuerySet(models.QuerySet[Any]):
    """A query whose `update` and `bulk_create` purge, too, for which Django sends no signals:

        class Song(PurgedModel):
            objects = PurgedQuerySet.as_manager()

    Both read the rows: `update` as they were and as they are. `bulk_update` goes by `update`.
    """

    def update(self, **values: Any) -> int:
        with transaction.atomic(using=self._for_write_to(), savepoint=False):
            rows = list(self._chain().using(self.db).values_list("pk", flat=True))
            self._purge(rows)
            changed = super().update(**values)
            self._purge(rows)
            return changed

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        with transaction.atomic(using=self._for_write_to(), savepoint=False):
            made = super().bulk_create(objs, *args, **kwargs)
            purge(tags=tags_of(self.model, made), using=self.db)
            return made

    def _for_write_to(self) -> str:
        self._for_write = True
        return self.db

    def _purge(self, keys: list[Any]) -> None:
        rows = self.model._base_manager.using(self.db)
        tags: dict[str, None] = {}
        for start in range(0, len(keys), ROWS_AT_ONCE):
            some = rows.filter(pk__in=keys[start : start + ROWS_AT_ONCE])
            tags |= dict.fromkeys(tags_of(self.model, some))
        purge(tags=tags, using=self.db)


def tags_of(model: type[models.Model], rows: Iterable[Any]) -> list[str]:
    """The tags of rows by all that is registered for their model."""
    held = list(rows)
    registrations = [tags for registered, tags in _registered if issubclass(model, registered)]
    return _together(held, registrations)


def _together(rows: Iterable[Any], each: list[TagsOf]) -> list[str]:
    return list(dict.fromkeys(named for row in rows for tags in each for named in tags(row)))


def purge_on_change(model: type[models.Model], tags: TagsOf, *, former: bool = True) -> None:
    """Purges the tags of each row of a model that is saved, deleted, or joined to another by a many-to-many field.

        purge_on_change(Song, lambda song: [f"song:{song.pk}", f"album:{song.album_id}"])

    With `former`, the row as it was is read before it is saved, so that a song that moves to another album is gone from
    the page of the one it left. It costs a query; without it only the new tags are purged. Where two transactions may move
    one row at the same time, lock it first (`select_for_update`), or the second does not see what the first has made of it.

    Rows that are saved outside of a transaction belong to a `PurgedModel`. `update` and `bulk_create` send no signals:
    `PurgedQuerySet` purges there. For raw SQL call `purge`. Fixtures (`loaddata`) are left out.
    """
    _registered.append((model, tags))

    def purge_rows(rows: Iterable[Any], using: str) -> None:
        purge(tags=_together(rows, [tags]), using=using)

    # No receiver names a sender: proxies of the model and models that extend it are rows of it, too.

    def before_save(instance: Any, raw: bool, using: str, **_: Any) -> None:
        # Only read: a save that fails outside of a transaction would leave the purge behind.
        if former and isinstance(instance, model) and not raw and instance.pk is not None:
            rows = model._base_manager.using(using).filter(pk=instance.pk)
            instance.__dict__.setdefault("_tidemark_former_tags", {})[registration] = _together(rows, [tags])

    def after_save(instance: Any, raw: bool, using: str, **_: Any) -> None:
        if isinstance(instance, model) and not raw:
            old = instance.__dict__.get("_tidemark_former_tags", {}).pop(registration, [])
            purge(tags=[*old, *_together([instance], [tags])], using=using)

    def after_delete(instance: Any, using: str, **_: Any) -> None:
        if isinstance(instance, model):
            purge_rows([instance], using)

    def after_relation(sender: Any, instance: Any, action: str, using: str, **changed: Any) -> None:
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


def _other_side(through: Any, instance: Any, using: str, *, model: Any, reverse: bool, pk_set: Any, **_: Any) -> Any:
    """The rows that a call on the many-to-many field of an instance joins to it or lets go; without `pk_set`, all of them."""
    rows = model._base_manager.using(using)
    if pk_set is not None:
        return rows.filter(pk__in=pk_set)
    owner = model if reverse else type(instance)
    field = next(each for each in owner._meta.many_to_many if each.remote_field.through is through)
    return rows.filter(**{field.name: instance}) if reverse else getattr(instance, field.name).using(using).all()
