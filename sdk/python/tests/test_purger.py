"""The client against a running edge, whose address and token are in the environment: test/backends/python.test.ts starts it."""

import os
import socket
import urllib.request
from itertools import count
from typing import Any, NoReturn

import pytest

from tidemark import PurgeFailed, Purger, Receipt, purger

ENDPOINT = os.environ["TIDEMARK_ENDPOINT"]
TOKEN = os.environ["TIDEMARK_TOKEN"]
unused = count()


def cache_status(path: str) -> str:
    with urllib.request.urlopen(ENDPOINT + path) as answer:
        return str(answer.headers["X-Cache"])


@pytest.fixture
def stored() -> str:
    """A page that the edge has stored, under a path and a tag of its own."""
    name = f"page-{next(unused)}"
    path = f"/pages/{name}"
    assert cache_status(path) == "MISS"
    assert cache_status(path) == "HIT"
    return name


def test_a_tag_is_purged(stored: str) -> None:
    receipt = Purger(ENDPOINT, TOKEN).purge(tags=[stored])
    assert isinstance(receipt, Receipt)
    assert receipt.seq > 0
    assert cache_status(f"/pages/{stored}") == "MISS"


def test_a_tag_that_no_page_has_had_is_warned_of(stored: str) -> None:
    receipt = Purger(ENDPOINT, TOKEN).purge(tags=[stored.upper()])
    assert receipt.warnings == (f"No page was stored lately under tag:{stored.upper()}; the nearest is tag:{stored}.",)
    assert Purger(ENDPOINT, TOKEN).purge(tags=[stored]).warnings == ()


def test_a_url_is_purged(stored: str) -> None:
    Purger(ENDPOINT, TOKEN).purge(urls=[f"/pages/{stored}"])
    assert cache_status(f"/pages/{stored}") == "MISS"


def test_a_url_may_have_its_scheme_in_capitals(stored: str) -> None:
    Purger(ENDPOINT, TOKEN).purge(urls=[f"{ENDPOINT.replace('http', 'HTTP')}/pages/{stored}"])
    assert cache_status(f"/pages/{stored}") == "MISS"


def test_the_example_in_the_docs_purges() -> None:
    exec(os.environ["EXAMPLE"].replace("https://www.example.com", ENDPOINT), {"token": TOKEN})


def test_everything_is_purged(stored: str) -> None:
    Purger(ENDPOINT, TOKEN).purge(everything=True)
    assert cache_status(f"/pages/{stored}") == "MISS"


def test_the_settings_come_from_the_environment(stored: str) -> None:
    Purger().purge(tags=[stored])
    assert cache_status(f"/pages/{stored}") == "MISS"


def test_the_same_id_purges_once(stored: str) -> None:
    purger = Purger(ENDPOINT, TOKEN)
    name = os.urandom(8).hex()
    assert purger.purge(tags=[stored], id=name).seq == purger.purge(tags=[stored], id=name).seq
    with pytest.raises(PurgeFailed, match="409") as caught:
        purger.purge(tags=["other"], id=name)
    assert caught.value.refused and not caught.value.retryable


def test_a_refusal_that_names_ten_thousand_items_is_one() -> None:
    with pytest.raises(PurgeFailed, match="400") as caught:
        Purger(ENDPOINT, TOKEN).purge(urls=[f"http://:{number}" for number in range(10_000)])
    assert caught.value.refused
    assert len(str(caught.value)) < 1100


def test_a_wrong_token_is_told_and_not_repeated() -> None:
    wrong = "a-token-that-nobody-knows-0000000"
    with pytest.raises(PurgeFailed, match="401") as caught:
        Purger(ENDPOINT, wrong).purge(tags=["a"])
    assert not caught.value.refused and not caught.value.retryable
    assert wrong not in str(caught.value)


class VirtualTime:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("deadline", [10.0, 2500.0])
def test_an_edge_that_is_not_there_is_tried_for_the_deadline(deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    time = VirtualTime()
    monkeypatch.setattr(purger, "time", time)
    with pytest.raises(PurgeFailed, match="cannot be reached") as caught:
        Purger("http://127.0.0.1:9", TOKEN, deadline=deadline).purge(tags=["a"])
    assert deadline - 2 <= time.now < deadline
    assert caught.value.retryable


def test_retries_are_bounded_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    time = VirtualTime()
    monkeypatch.setattr(purger, "time", time)
    with pytest.raises(PurgeFailed, match="cannot be reached") as caught:
        Purger("http://127.0.0.1:9", TOKEN, retries=1).purge(tags=["a"])
    assert 0 < time.now <= 0.2
    assert "may have happened" not in str(caught.value)


def test_a_name_without_an_address_is_told_as_a_purge_that_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(PurgeFailed, match="cannot be reached") as caught:
        Purger("http://nowhere.example", TOKEN, retries=0).purge(tags=["a"])
    assert "may have happened" not in str(caught.value)


@pytest.mark.parametrize(
    ("items", "error"),
    [
        ({"tags": ["two words"]}, ValueError),
        ({"tags": ["x" * 257]}, ValueError),
        ({"tags": ["größe"]}, ValueError),
        ({"tags": "song:42"}, TypeError),
        ({"tags": b"song:42"}, TypeError),
        ({"prefixes": b"/shop"}, TypeError),
        ({"tags": [None]}, ValueError),
        ({"tags": [42]}, ValueError),
        ({"tags": [""]}, ValueError),
        ({"urls": [""]}, ValueError),
        ({"prefixes": [""]}, ValueError),
        ({"prefixes": [b"/shop"]}, ValueError),
        ({"hosts": [""]}, ValueError),
        ({"hosts": [None]}, ValueError),
        ({"urls": ["about"]}, ValueError),
        ({"urls": ["/two words"], "tags": ["a"]}, ValueError),
        ({"urls": ["https://www.example.com/\n"]}, ValueError),
        ({"urls": ["/\x7f"]}, ValueError),
        ({"tags": [f"t{number}" for number in range(10_001)]}, ValueError),
        ({}, ValueError),
    ],
)
def test_what_cannot_be_right_is_refused_at_the_call(items: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Purger(ENDPOINT, TOKEN).purge(**items)


@pytest.mark.parametrize(
    ("endpoint", "token"),
    [
        ("the-token-in-the-wrong-place", TOKEN),
        ("https://www.example.com/the-token-in-the-wrong-place", TOKEN),
        ("https://the-token-in-the-wrong-place@www.example.com", TOKEN),
        ("https://www.example.com:the-token-in-the-wrong-place", TOKEN),
        ("https://[the-token-in-the-wrong-place]", TOKEN),
        ("https://www.example.com:65536", TOKEN),
        ("https://www example.com", TOKEN),
        ("https://:443", TOKEN),
        (ENDPOINT, "'the-token-in-the-wrong-place '"),
        ("", TOKEN),
        (ENDPOINT, ""),
    ],
)
def test_settings_that_cannot_work_are_told_without_their_values(endpoint: str, token: str) -> None:
    with pytest.raises(ValueError, match="TIDEMARK_") as caught:
        Purger(endpoint, token)
    assert "the-token-in-the-wrong-place" not in str(caught.value)
