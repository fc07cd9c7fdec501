"""Tags the pages of a Django site, and purges them from its Tidemark edge with the change that outdates them.

    INSTALLED_APPS = [..., "tidemark.django"]  # and: manage.py migrate
    MIDDLEWARE = ["tidemark.django.middleware", ...]  # the first
    TIDEMARK_ENDPOINT = "https://www.example.com"  # the site's origin; None switches purges off
    TIDEMARK_TOKEN = os.environ["TIDEMARK_TOKEN"]  # a token with the scope "purge"

A purge is a row in the database of the change, written in its transaction. A thread of each process, or the command
`send_purges`, sends it after the commit.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .changes import PurgedModel, PurgedQuerySet, purge_on_change
    from .request_middleware import middleware
    from .purging import purge
    from .response_tags import tag

__all__ = ["PurgedModel", "PurgedQuerySet", "middleware", "purge", "purge_on_change", "tag"]

_MODULE_OF = {
    "PurgedModel": "changes",
    "PurgedQuerySet": "changes",
    "middleware": "request_middleware",
    "purge": "purging",
    "purge_on_change": "changes",
    "tag": "response_tags",
}


def __getattr__(name: str) -> Any:
    """Django imports this package before any model may be defined."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
