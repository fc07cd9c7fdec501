"""What the project's settings say."""

import os
from typing import Any

from django.conf import settings

from ..purger import Purger


def is_off() -> bool:
    return _setting("TIDEMARK_ENDPOINT", "") is None


def purger() -> Purger:
    """One attempt each: the outbox tries again. ValueError if the settings cannot work."""
    timeout = _setting("TIDEMARK_TIMEOUT_SECONDS", 10)
    return Purger(_setting("TIDEMARK_ENDPOINT", ""), _setting("TIDEMARK_TOKEN", ""), retries=0, deadline=timeout)


def has_thread() -> bool:
    return bool(_setting("TIDEMARK_SENDER", "thread") == "thread")


def sender() -> Any:
    return _setting("TIDEMARK_SENDER", "thread")


def wait_seconds() -> float:
    """How long an answer waits for the receipt of what its request has purged."""
    return float(_setting("TIDEMARK_WAIT_SECONDS", 0.5))


def max_tags() -> int:
    return int(_setting("TIDEMARK_MAX_TAGS", 1000))


def _setting(name: str, default: Any) -> Any:
    """From the settings, or else a text from the environment."""
    value = getattr(settings, name, os.environ.get(name) if isinstance(default, str) else default)
    return default if value == "" or (value is None and not hasattr(settings, name)) else value
