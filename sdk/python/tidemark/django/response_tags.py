"""The tags of a response."""

import re
import threading
from contextvars import ContextVar
from typing import Any

from ..items import checked_tags
from . import configuration

MAX_TAG_FIELD_BYTES = 64 * 1024
"""The edge answers 502 to a response whose fields have more bytes (`limits.responseFieldBytes`)."""


class ResponseTags:
    """The tags that a request has collected for its response, until the head of the response is made."""

    def __init__(self) -> None:
        self._tags: dict[str, None] = {}
        self._is_over = False
        # An async view may call into several threads at once.
        self._lock = threading.Lock()

    def add(self, tags: list[str]) -> None:
        with self._lock:
            self._add(tags)

    def _add(self, tags: list[str]) -> None:
        if self._is_over:
            raise RuntimeError(f"tag: the head of this response has been made, so {tags[0]!r} would not be on it")
        together = self._tags | dict.fromkeys(tags)
        most = configuration.max_tags()
        size = sum(len(each) + 1 for each in together)
        if len(together) > most or size > MAX_TAG_FIELD_BYTES:
            raise ValueError(
                f"tag: this response would have {len(together)} tags of {size} bytes. The edge stores none with more than "
                f"{most} tags, and answers 502 to one with more than {MAX_TAG_FIELD_BYTES} bytes of fields. Name what the "
                "page is a list of in one tag."
            )
        self._tags = together

    def write(self, response: Any) -> None:
        with self._lock:
            self._is_over = True
        if self._tags:
            held = dict.fromkeys(each for each in re.split(r"[\s,]+", response.get("Cache-Tag", "")) if each)
            response["Cache-Tag"] = ",".join(held | self._tags)


current: ContextVar[ResponseTags | None] = ContextVar("tidemark_response_tags", default=None)


def tag(*tags: str) -> None:
    """Adds tags to the response of the current request, from anywhere below the middleware: `tag("song:42", "songs")`.

    It adds all of them or none. A tag that the edge would not take, or too many of them, is a ValueError. A call outside
    of a request, or after the head of the response was made, is a RuntimeError: the page would be stored and could not
    be purged by the tag.
    """
    checked = checked_tags("tag", tags)
    collected = current.get()
    if collected is None:
        raise RuntimeError("tag: this code runs outside of a request, or tidemark.django.middleware is not in MIDDLEWARE")
    if checked:
        collected.add(checked)
