"""The rows that change with another row, because a relation joins them to it."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from django.db import models

ROWS_AT_ONCE = 500
"""SQLite takes only so many keys in one query."""


class Joined(NamedTuple):
    """Some rows of a model, by what a unique field has in them."""

    model: type[models.Model]
    keys: list[Any]
    field: str = "pk"


_NO_UPDATE = (models.CASCADE, models.PROTECT, models.RESTRICT, models.DO_NOTHING)
"""Any other `on_delete` updates rows, and Django sends no signal for that."""


def rows_of(joined: Joined, using: str) -> Iterator[Any]:
    """These rows as they are now, without those that are gone."""
    model, keys, field = joined
    for start in range(0, len(keys), ROWS_AT_ONCE):
        yield from model._base_manager.using(using).filter(**{f"{field}__in": keys[start : start + ROWS_AT_ONCE]})


def shares_rows(model: Any, other: Any) -> bool:
    """Whether a row of the other model is one of the model, or the part of one that the model inherits."""
    return issubclass(other, model) or issubclass(model, other._meta.concrete_model)


def extending(model: type[models.Model], joined: Joined) -> Joined:
    """Rows of another model, whose rows the model shares: themselves, or the rows of the model that extend them."""
    if issubclass(joined.model, model):
        return joined
    return Joined(model, joined.keys, joined.model._meta.concrete_model._meta.pk.name)


def joined_by_call(through: Any, instance: Any, using: str, *, model: Any, reverse: bool, pk_set: Any, **_: Any) -> Joined:
    """The rows that a call on a many-to-many field of an instance joins to it or parts from it."""
    if pk_set is not None:  # `clear` names none: it parts from all
        return Joined(model, list(pk_set))
    fields = instance._meta.get_fields(include_hidden=True)
    sides = [each for each in fields if each.many_to_many and each.auto_created == reverse]
    relation = next(each for each in sides if (each if reverse else each.remote_field).through is through)
    return _joined(relation, instance, using)


def joined_to_deleted(instance: Any, model: Any, using: str) -> list[Joined]:
    """The rows of a model that the delete of an instance changes, and does not delete."""
    return [extending(model, _joined(each, instance, using)) for each in _relations_to(model, instance._meta.model)]


def is_joined(model: Any, deleted: Any) -> bool:
    """Whether the delete of a row can change rows of a model without deleting them."""
    return bool(_relations_to(model, deleted))


@cache
def _relations_to(model: Any, deleted: Any) -> list[Any]:
    return [
        each
        for each in deleted._meta.get_fields(include_hidden=True)
        if each.related_model is not None
        and shares_rows(model, each.related_model)
        and (each.many_to_many or (isinstance(each, models.ManyToOneRel) and each.on_delete not in _NO_UPDATE))
    ]


def _joined(relation: Any, instance: Any, using: str) -> Joined:
    if relation.auto_created:
        rows = relation.related_model._base_manager.using(using).filter(**{relation.remote_field.name: instance})
    else:
        rows = getattr(instance, relation.name).using(using)
    return Joined(relation.related_model, list(rows.values_list("pk", flat=True)))
