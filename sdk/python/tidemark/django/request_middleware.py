"""What each request does beside its view."""

import asyncio
import math
import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import Token
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.utils.decorators import sync_and_async_middleware

from ..purger import Receipt
from . import configuration, purging, response_tags
from .purging import RequestPurges
from .response_tags import ResponseTags
from .sender import sender

COOKIE = "tidemark-after"
COOKIE_MARGIN_SECONDS = 5


class _Visit:
    """A request on its way: what it tags, and what it commits."""

    def __init__(self) -> None:
        self.tags = ResponseTags()
        self.purges = RequestPurges()
        self._tags_before: Token[ResponseTags | None] = response_tags.current.set(self.tags)
        self._purges_before: Token[RequestPurges | None] = purging.current.set(self.purges)
        self.asked: Future[Receipt | None] | None = None

    def ask(self) -> Future[Receipt | None] | None:
        """For the receipt of what was committed, if anything was, and if a thread sends it."""
        if self.purges.committed and configuration.has_thread():
            self.asked = sender.receipt(self.purges.committed)
        return self.asked

    def finish(self, response: Any) -> Any:
        self.tags.write(response)
        receipt = self.asked.result() if self.asked is not None and self.asked.done() else None
        if receipt is not None and receipt.token:
            seconds = math.ceil(receipt.settles_in_ms / 1000) + COOKIE_MARGIN_SECONDS
            response.set_cookie(COOKIE, receipt.token, max_age=seconds, httponly=True, samesite="Lax")
        return response

    def end(self) -> None:
        response_tags.current.reset(self._tags_before)
        purging.current.reset(self._purges_before)
        self.purges.end()
        if self.asked is not None:
            self.asked.cancel()
        if self.purges.written:
            sender.forget(self.purges.written)


@sync_and_async_middleware
def middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Tags the responses, and gives an editor the cookie with which the edge shows nothing older than the edit.

    For that an answer waits for the receipt of what its request has committed, up to `TIDEMARK_WAIT_SECONDS`. It has to be
    the first of MIDDLEWARE, so that those after it neither drop its field nor commit behind its back.
    """
    if not _forks_untold():
        _look_for_leftovers()

    if iscoroutinefunction(get_response):

        async def respond_async(request: Any) -> Any:
            _look_for_leftovers()
            visit = _Visit()
            try:
                response = await get_response(request)
                asked = visit.ask()
                if asked is not None and not asked.done():
                    await asyncio.wait([asyncio.wrap_future(asked)], timeout=configuration.wait_seconds())
                return visit.finish(response)
            finally:
                visit.end()

        return respond_async

    def respond(request: Any) -> Any:
        _look_for_leftovers()
        visit = _Visit()
        try:
            response = get_response(request)
            asked = visit.ask()
            if asked is not None and not asked.done():
                wait([asked], configuration.wait_seconds())
            return visit.finish(response)
        finally:
            visit.end()

    return respond


def _look_for_leftovers() -> None:
    """What a process that was killed has left behind is sent by the next one, also while the edge's hits spare it requests.

    Each request calls it, too, because a forked process has no thread of its parent's.
    """
    if configuration.has_thread() and not configuration.is_off():
        sender.start()


def _forks_untold() -> bool:
    """uWSGI, without `lazy-apps`, forks this process and does not tell Python: a child would keep the locks of a thread."""
    # A site's own module may have this name, too.
    worker_id = getattr(sys.modules.get("uwsgi"), "worker_id", None)
    return worker_id is not None and worker_id() == 0
