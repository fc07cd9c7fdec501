"""The purges of rows that change."""

from collections.abc import Callable, Collection, Iterable
from copy import copy
from itertools import chain
from typing import Any

from django.apps import apps
from django.db import connections, models, router, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from .purging import purge
from .relations import ROWS_AT_ONCE, Joined, extending, is_joined, joined_by_call, joined_to_deleted, rows_of, shares_rows

TagsOf = Callable[[Any], Iterable[str]]

_registered: list[tuple[type[models.Model], TagsOf]] = []
_to_connect: list[Callable[[], None]] = []


def connect_deletes() -> None:
    """Connects the receivers that had to wait until all models are loaded."""
    while _to_connect:
        _to_connect.pop(0)()


def _of_proxy(model: type[models.Model], tags: TagsOf) -> TagsOf:
    """Its rows are changed by the model behind it, too, and the tags may call what only the proxy has."""

    def of_row(row: Any) -> Iterable[str]:
        if not isinstance(row, model):
            row = copy(row)
            row.__class__ = model
        return tags(row)

    return of_row if model._meta.proxy else tags


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

            class Meta:
                base_manager_name = "objects"

    Both read the rows that they update, as they were and as they are. `bulk_update` goes by `update`. So do `add` and `set`
    of related managers, as `album.song_set`, but by the base manager.
    """

    def update(self, **values: Any) -> int:
        with transaction.atomic(using=self._for_write_to(), savepoint=False):
            # By relations a row can match several times.
            rows = list(dict.fromkeys(self._chain().using(self.db).values_list("pk", flat=True)))
            self._purge(rows)
            changed = models.QuerySet.update(self._only(rows), **values)
            self._result_cache = None  # as after an update of this very query
            self._purge(rows)
            return changed

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(
        self,
        objs: Iterable[Any],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,
        update_conflicts: bool = False,
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Any]:
        with transaction.atomic(using=self._for_write_to(), savepoint=False):
            rows = list(objs)
            unique = [unique_fields] if unique_fields else unique_together(self.model)
            self._purge(self._stored(rows if update_conflicts else [], unique)[0])
            made = super().bulk_create(rows, batch_size, ignore_conflicts, update_conflicts, update_fields, unique_fields)
            known: list[Any] = []
            asked: list[Any] = []
            for row in made:
                (asked if update_conflicts or row.pk is None or _has_expression(row) else known).append(row)
            stored, others = self._stored(asked, unique)
            self._purge(stored)
            purge(tags=tags_of(self.model, chain(known, map(_with_key, others))), using=self.db)
            return made

    bulk_create.alters_data = True  # type: ignore[attr-defined]

    def _for_write_to(self) -> str:
        self._for_write = True
        return self.db

    def _only(self, keys: list[Any]) -> "PurgedQuerySet":
        """Without what another transaction has added since the keys were read, as far as that changes nothing else.

        SQLite lets nobody add rows meanwhile, and its statements take few keys. A window counts the named rows only.
        """
        most = (connections[self.db].features.max_query_params or 2**16) // 2  # the query has values of its own
        return self if len(keys) > most or self.query.where.contains_over_clause else self._chain().filter(pk__in=keys)

    def _purge(self, keys: list[Any]) -> None:
        changed, registered = Joined(self.model, keys), registered_models()
        children = [each for each in registered if shares_rows(each, self.model) and not issubclass(self.model, each)]
        tags = [tags_of(each, rows_of(extending(each, changed), self.db)) for each in [self.model, *children]]
        purge(tags=chain(*tags), using=self.db)

    def _stored(self, rows: list[Any], unique: list[Collection[str]]) -> tuple[list[Any], list[Any]]:
        """The keys of the stored rows that equal these in unique fields, and those of these without values there."""
        meta, stored = self.model._meta, self.model._base_manager.using(self.db)
        together = [[meta.get_field(meta.pk.name if name == "pk" else name).attname for name in names] for names in unique]
        equal, others = [], []
        for row in rows:
            values = [{field: getattr(row, field) for field in fields} for fields in together]
            told = [models.Q(**each) for each in values if not any(map(_is_unknown, each.values()))]
            equal.extend(told)
            others.extend([] if told else [row])
        step = max(1, ROWS_AT_ONCE // max(map(len, together)))
        some = [models.Q(*equal[start : start + step], _connector=models.Q.OR) for start in range(0, len(equal), step)]
        keys = (key for each in some for key in stored.filter(each).values_list("pk", flat=True))
        return list(dict.fromkeys(keys)), others


def unique_together(model: type[models.Model]) -> list[Collection[str]]:
    """The names of the fields by which a database may find that two rows are in conflict."""
    meta = model._meta
    alone = [[each.name] for each in meta.fields if each.unique and not each.primary_key]
    constraints = [each.fields for each in meta.total_unique_constraints]
    return [["pk"], *alone, *meta.unique_together, *constraints]


def _is_unknown(value: Any) -> bool:
    """NULL equals no other, and an expression is known to the database only."""
    return isinstance(value, (type(None), models.Expression))


def _has_expression(row: Any) -> bool:
    """Django 5.2 leaves it in a row that was saved, in place of the value that the database has made of it."""
    return any(hasattr(row.__dict__.get(each.attname), "resolve_expression") for each in row._meta.concrete_fields)


def _with_key(row: Any) -> Any:
    """Tags may follow relations, which Django reads for no row without a key. Here no row has this one."""
    if row.pk is None:
        row = copy(row)
        row.pk = -1
    return row


def tags_of(model: type[models.Model], rows: Iterable[Any]) -> list[str]:
    """The tags of rows by all that is registered for their model."""
    return _together(rows, [tags for registered, tags in _registered if issubclass(model, registered)])


def _together(rows: Iterable[Any], each: list[TagsOf]) -> list[str]:
    return list(dict.fromkeys(named for row in (rows if each else ()) for tags in each for named in tags(row)))


def purge_on_change(model: type[models.Model], tags: TagsOf, *, former: bool = True) -> None:
    """Purges the tags of each row of a model that is saved, deleted, joined to another by a many-to-many field, parted
    from it, or changed by the `on_delete` of a foreign key.

        purge_on_change(Song, lambda song: [f"song:{song.pk}", f"album:{song.album_id}"])

    With `former`, the row as it was is read before it is saved, so that a song that moves to another album is gone from
    the page of the one it left. It costs a query; without it only the new tags are purged. Where two transactions may move
    one row at the same time, lock it first (`select_for_update`), or the second does not see what the first has made of it.

    A row is purged by the change of the one that it extends, too (multi-table inheritance), but not by another row that
    extends the same. The tags of a proxy are those of all rows of its table: they may be none for some.

    Rows that are saved outside of a transaction belong to a `PurgedModel`. `update` and `bulk_create` send no signals:
    `PurgedQuerySet` purges there. For raw SQL call `purge`. Fixtures (`loaddata`) are left out.
    """
    if model._meta.abstract:
        raise ValueError(f"purge_on_change: {model.__name__} is abstract and has no rows: name the models that extend it")
    tags = _of_proxy(model, tags)
    model = model._meta.concrete_model
    _registered.append((model, tags))

    def key_in_model(instance: Any) -> Any:
        """A row that extends several models has a key in each, and its own is that of the first. Django copies it to the
        model that the row extends only when that is saved."""
        key = getattr(instance, model._meta.pk.attname)
        link = instance._meta.get_ancestor_link(model) if key is None else None
        return key if link is None else getattr(instance, link.attname)

    def is_concerned(instance: Any) -> bool:
        return shares_rows(model, type(instance))

    def stored(instance: Any, using: str) -> Iterable[Any]:
        if isinstance(instance, model):
            row = Joined(model, [key_in_model(instance)])
        elif is_concerned(instance):
            row = extending(model, Joined(type(instance), [instance.pk]))
        else:
            return []
        return [] if row.keys == [None] else rows_of(row, using)

    def tags_now(instance: Any, joined: list[Joined], using: str) -> list[str]:
        is_known = isinstance(instance, model) and not _has_expression(instance)
        own = [instance] if is_known else stored(instance, using)
        return _together(chain(own, *(rows_of(each, using) for each in joined)), [tags])

    def tags_stored(instance: Any, using: str) -> list[str]:
        """An instance may be older than its row, or have been built by its key alone."""
        return _together(stored(instance, using), [tags])

    def note(instance: Any, change: str, joined: list[Joined], former_tags: list[str]) -> None:
        # Not purged: a save that fails outside of a transaction would leave the purge behind.
        instance.__dict__.setdefault("_tidemark_noted", {})[registration, change] = joined, former_tags

    def purge_noted(instance: Any, change: str, joined: list[Joined], using: str) -> None:
        noted = instance.__dict__.get("_tidemark_noted", {})
        joined, former_tags = noted.pop((registration, change), (joined, []))
        if joined or is_concerned(instance):
            purge(tags=[*former_tags, *tags_now(instance, joined, using)], using=using)

    # Rows of its proxies and of the models that extend it are rows of the model, too. Those of the models that it extends are
    # parts of its rows: of their changes, Django sends a signal for its own model only when they are deleted.

    def before_save(instance: Any, raw: bool, using: str, **_: Any) -> None:
        if former and is_concerned(instance) and not raw:
            note(instance, "save", [], tags_stored(instance, using))

    def after_save(instance: Any, raw: bool, using: str, **_: Any) -> None:
        if is_concerned(instance) and not raw:
            purge_noted(instance, "save", [], using)

    def before_delete(instance: Any, using: str, origin: Any = None, **_: Any) -> None:
        joined = joined_to_deleted(instance, model, using)
        if joined or isinstance(instance, model):
            # Django has just read all other rows that it deletes.
            stored = tags_stored(instance, using) if instance is origin else []
            note(instance, "delete", joined, [*stored, *tags_now(instance, joined, using)])

    def after_delete(instance: Any, using: str, **_: Any) -> None:
        purge_noted(instance, "delete", [], using)

    def around_call(sender: Any, instance: Any, action: str, using: str, **call: Any) -> None:
        others = [joined_by_call(sender, instance, using, **call)] if shares_rows(model, call["model"]) else []
        joined = [extending(model, each) for each in others]
        if action.startswith("post_"):
            purge_noted(instance, sender._meta.label, joined, using)
        elif joined or is_concerned(instance):
            former_tags = [*tags_stored(instance, using), *tags_now(instance, joined, using)]
            note(instance, sender._meta.label, joined, former_tags)

    registration = f"{model._meta.label} {id(around_call)}"
    for signal, receiver in ((pre_save, before_save), (post_save, after_save), (m2m_changed, around_call)):
        # Not weakly: nobody else holds the receivers.
        signal.connect(receiver, weak=False)

    def connect() -> None:
        # By sender, because Django reads the rows of each that has a receiver before it deletes them.
        for sender in apps.get_models():
            if issubclass(sender, model) or is_joined(model, sender):
                pre_delete.connect(before_delete, sender, weak=False)
                post_delete.connect(after_delete, sender, weak=False)

    _to_connect.append(connect)
    if apps.models_ready:
        connect_deletes()
