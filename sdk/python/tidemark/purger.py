"""The client of an edge's purges."""

import http.client
import json
import os
import random
import re
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request

from .items import MAX_BYTES, MAX_ITEMS, checked_items, divided
from .timed_http import Answer, NotConnected, ask

REFUSED = (400, 409, 415)
"""The statuses for a purge that the edge will never accept, if the edge itself sent them."""
TOO_LARGE = 413
"""The same, even if a proxy in front of the edge sent it."""
PASSING = (429, 502, 503, 504, *range(520, 531))
"""The statuses after which the same purge can succeed. Those from 520 are Cloudflare's."""
WORDS_SECONDS = 1.0
"""So long the words of another status are waited for, so that time is left to send the purge again."""
MAX_REPORT_BYTES = 3 * MAX_BYTES
"""The report of a refusal names each item that is wrong."""


@dataclass(frozen=True)
class Receipt:
    """An accepted purge."""

    seq: int
    """Its number in the purge log."""
    token: str
    """In the cookie `tidemark-after` it shows its holder nothing older than the purge."""
    settles_in_ms: int
    """After this many milliseconds no PoP answers with what was purged."""
    warnings: tuple[str, ...] = ()
    """Sentences about items that may not do what was meant, as tags that no stored page has had lately."""


class PurgeFailed(Exception):
    """A purge that was not accepted. It may have happened if the connection broke before the answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        refused: bool = False,
        blocked: bool = False,
        passing: bool = False,
        retry_after: float = 0.0,
    ):
        super().__init__(message)
        self.status = status
        """That of the edge's answer; None if there was no answer."""
        self.refused = refused
        """True if the edge will never accept this purge."""
        self.blocked = blocked
        """True if it came no further than something in front of the edge, which may let other purges pass."""
        self.retryable = passing
        """True if the same purge, with the same id, can succeed in a moment."""
        self.retry_after = retry_after
        """The seconds that the edge asks to wait."""


class Purger:
    """Purges an edge. It can be used by several threads.

    `endpoint` is the site's origin, like https://www.example.com, and `token` one with the scope "purge"; both are read
    from TIDEMARK_ENDPOINT and TIDEMARK_TOKEN if they are left out. A purge that fails for a reason that can pass is sent
    again until `deadline`, or at most `retries` times. All but the look-up of the name ends within `deadline` seconds. Messages
    never repeat the token.
    """

    def __init__(
        self, endpoint: str | None = None, token: str | None = None, *, retries: int | None = None, deadline: float = 10.0
    ):
        endpoint = os.environ.get("TIDEMARK_ENDPOINT") if endpoint is None else endpoint
        token = os.environ.get("TIDEMARK_TOKEN") if token is None else token
        self._endpoint = _checked_endpoint(endpoint)
        self._token = _checked_token(token)
        self._retries = retries
        self._deadline = deadline

    def purge(
        self,
        *,
        tags: Iterable[str] = (),
        urls: Iterable[str] = (),
        prefixes: Iterable[str] = (),
        hosts: Iterable[str] = (),
        everything: bool = False,
        id: str | None = None,
    ) -> Receipt:
        """Purges all of these. With an `id` of its own it happens once, however often it is called.

        PurgeFailed if it was not accepted; ValueError for what no edge accepts, and for more than 10,000 items or 4 MB.
        """
        items = checked_items(tags=tags, urls=urls, prefixes=prefixes, hosts=hosts, everything=everything)
        if not items:
            raise ValueError("purge: name tags, urls, prefixes or hosts, or everything=True")
        if len(list(divided(items))) > 1:
            raise ValueError(f"purge: more than {MAX_ITEMS:,} items or 4 MB: send them in several purges")
        return self._sent({**items, "id": id or str(uuid.uuid4())})

    def _sent(self, body: dict[str, object]) -> Receipt:
        give_up_at = time.monotonic() + self._deadline
        attempt = 0
        while True:
            try:
                return self._post(body, max(0.001, give_up_at - time.monotonic()))
            except PurgeFailed as failure:
                pause = failure.retry_after + min(2.0, 0.2 * 2 ** min(attempt, 4)) * random.uniform(0.5, 1)
                is_last = attempt == self._retries or time.monotonic() + pause >= give_up_at
                if is_last or not failure.retryable:
                    raise
                attempt += 1
                time.sleep(pause)

    def _post(self, body: dict[str, object], timeout: float) -> Receipt:
        fields = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = Request(f"{self._endpoint}/_tidemark/purge", json.dumps(body).encode(), fields)
        try:
            with ask(request, timeout) as answer:
                if not 200 <= answer.status < 300:
                    raise _refusal(answer)
                return _receipt(json.load(answer))
        except (OSError, http.client.HTTPException) as failure:
            never_sent = isinstance(getattr(failure, "reason", failure), NotConnected)
            happened = "" if never_sent else "; the purge may have happened"
            raise PurgeFailed(f"the edge cannot be reached: {failure}{happened}", passing=True) from failure
        except (ValueError, RecursionError) as failure:
            raise PurgeFailed(
                f"the answer is not JSON: {failure}; the purge may have happened", passing=True
            ) from failure


def _refusal(answer: Answer) -> PurgeFailed:
    """A proxy in between can answer with anything, and stop in the middle of it."""
    answer.deadline.shorten(WORDS_SECONDS)
    try:
        words = answer.read(MAX_REPORT_BYTES).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as failure:
        words = f"its words cannot be read: {failure}"
    is_of_edge = _is_of_edge(words)
    return PurgeFailed(
        f"the edge answered with {answer.status}: {words[:1000]}",
        status=answer.status,
        refused=answer.status == TOO_LARGE or (answer.status in REFUSED and is_of_edge),
        blocked=not is_of_edge and answer.status not in (401, *PASSING),
        passing=answer.status in PASSING,
        retry_after=_seconds(answer.headers.get("Retry-After")),
    )


def _is_of_edge(words: str) -> bool:
    """Whether they are a problem report, which has a code."""
    try:
        report = json.loads(words)
    except (ValueError, RecursionError):
        return False
    return isinstance(report, dict) and isinstance(report.get("code"), str)


def _receipt(body: Any) -> Receipt:
    try:
        return Receipt(
            seq=int(body["seq"]),
            token=str(body["token"]),
            settles_in_ms=int(body["settlesInMs"]),
            warnings=tuple(str(each) for each in body.get("warnings", ())),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise PurgeFailed("the answer did not come from a Tidemark edge; check TIDEMARK_ENDPOINT") from None


def _seconds(retry_after: str | None) -> float:
    """A date in Retry-After counts as none: the pauses grow anyway."""
    return float(retry_after) if retry_after and re.fullmatch(r"\d{1,6}", retry_after) else 0.0


def _checked_endpoint(endpoint: str | None) -> str:
    if not endpoint:
        raise ValueError("set TIDEMARK_ENDPOINT to the site's origin, like https://www.example.com")
    try:
        parts = urlsplit(endpoint)
        has_host = parts.hostname and parts.port != 0 and not re.search(r"[\s@]", parts.netloc)
    except ValueError:
        has_host = False
    is_origin = has_host and parts.scheme in ("http", "https") and parts.path in ("", "/")
    if not is_origin or parts.query or parts.fragment:
        raise ValueError("TIDEMARK_ENDPOINT is not an origin like https://www.example.com")
    return f"{parts.scheme}://{parts.netloc}"


def _checked_token(token: str | None) -> str:
    if not token:
        raise ValueError("set TIDEMARK_TOKEN to a token of the edge with the scope purge")
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError("TIDEMARK_TOKEN holds characters that cannot be sent")
    return token
