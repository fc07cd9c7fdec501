"""The client against servers that break off, stall, or answer as slowly as they can."""

import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidemark import PurgeFailed, Purger, purger, timed_http

RECEIPT = json.dumps({"seq": 7, "token": "log.7", "settlesInMs": 0}).encode()
ACCEPTED = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(RECEIPT), RECEIPT)
Answer = Callable[[socket.socket, threading.Event], None]


@contextmanager
def edge(*answers: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server that answers its connections one after the other, in this way each, until its client is done."""
    done = threading.Event()

    def serve() -> None:
        for answer in answers:
            with suppress(OSError):  # the client has gone, or never came
                connection, _ = listener.accept()
                with tls.wrap_socket(connection, server_side=True) if tls else connection as connection:
                    answer(connection, done)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.settimeout(5)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            thread.join(10)


def read_request(connection: socket.socket) -> None:
    request = b""
    while b"\r\n\r\n" not in request or not request.endswith(b"}"):
        more = connection.recv(65536)
        if not more:
            raise ConnectionError("the client has gone")
        request += more


def accepts(connection: socket.socket, done: threading.Event) -> None:
    read_request(connection)
    connection.sendall(ACCEPTED)


def answers(status: int, body: bytes, fields: bytes = b"") -> Answer:
    def answer(connection: socket.socket, done: threading.Event) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 %d No\r\n%sContent-Length: %d\r\n\r\n%s" % (status, fields, len(body), body))

    return answer


def stalls(status: int) -> Answer:
    def answer(connection: socket.socket, done: threading.Event) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 100\r\n\r\nhalf of" % status)
        connection.recv(1)  # until the client has gone

    return answer


def resets(status: int) -> Answer:
    def answer(connection: socket.socket, done: threading.Event) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 100\r\n\r\n" % status)
        done.wait(0.2)  # a reset takes what was not read with it
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return answer


def drips(start: bytes, drop: bytes, seconds: float = 0.2) -> Answer:
    def answer(connection: socket.socket, done: threading.Event) -> None:
        read_request(connection)
        connection.sendall(start)
        for _ in range(int(10 / seconds)):
            if done.wait(seconds):
                return
            connection.sendall(drop)

    return answer


DRIPPED_FIELDS = drips(b"HTTP/1.1 200 OK\r\n", b"X-Drop: 1\r\n")


def expect_the_end_in_time(endpoint: str, **items: list[str]) -> None:
    begun = time.monotonic()
    with pytest.raises(PurgeFailed):
        Purger(endpoint, "a-token", retries=0, deadline=0.5).purge(**items)
    assert 0.4 < time.monotonic() - begun < 5


@pytest.mark.parametrize("break_", [stalls(502), resets(503)], ids=["stalls", "resets"])
def test_a_refusal_whose_body_breaks_is_sent_again(break_: Answer) -> None:
    with edge(break_, accepts) as endpoint:
        assert Purger(endpoint, "a-token").purge(tags=["a"]).seq == 7


def test_a_refusal_whose_body_breaks_fails_with_its_status() -> None:
    with edge(stalls(503)) as endpoint:
        with pytest.raises(PurgeFailed, match="the edge answered with 503: its words cannot be read") as caught:
            Purger(endpoint, "a-token", retries=0).purge(tags=["a"])
    assert (caught.value.status, caught.value.retryable, caught.value.refused) == (503, True, False)


@pytest.mark.parametrize(
    ("status", "body", "refused"),
    [
        (400, b"<html>The plain HTTP request was sent to HTTPS port</html>", False),
        (400, b'{"code": "inv', False),
        (400, b'["code"]', False),
        pytest.param(400, b"[" * 60_000, False, id="deeply nested"),
        (409, b'{"code": 409}', False),
        (415, b"", False),
        (413, b"<html>Request Entity Too Large</html>", True),
        (409, b'{"code": "conflict"}', True),
        (403, b'{"code": "forbidden"}', False),
    ],
)
def test_only_an_edge_refuses_a_purge_except_one_that_is_too_large(status: int, body: bytes, refused: bool) -> None:
    with edge(answers(status, body)) as endpoint:
        with pytest.raises(PurgeFailed, match=f"the edge answered with {status}") as caught:
            Purger(endpoint, "a-token", retries=0).purge(tags=["a"])
    assert (caught.value.refused, caught.value.retryable) == (refused, False)
    assert len(str(caught.value)) < 1100


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b"[" * 200_000, "the answer is not JSON", id="deeply nested"),
        (b'{"seq": 1e999, "token": "a", "settlesInMs": 1}', "the answer did not come from a Tidemark edge"),
    ],
)
def test_an_answer_that_is_no_receipt_is_a_failed_purge(body: bytes, words: str) -> None:
    with edge(answers(200, body)) as endpoint:
        with pytest.raises(PurgeFailed, match=words):
            Purger(endpoint, "a-token", retries=0).purge(tags=["a"])


@pytest.mark.parametrize(
    ("status", "body", "blocked"),
    [
        (403, b"<html>Request blocked</html>", True),
        (403, b'{"code": "forbidden"}', False),
        (401, b"<html>Log in</html>", False),
        (503, b"<html>Down</html>", False),
    ],
)
def test_what_is_in_front_of_an_edge_may_block_one_purge_and_not_others(status: int, body: bytes, blocked: bool) -> None:
    with edge(answers(status, body)) as endpoint:
        with pytest.raises(PurgeFailed) as caught:
            Purger(endpoint, "a-token", retries=0).purge(tags=["a"])
    assert caught.value.blocked == blocked


@pytest.mark.parametrize("status", [429, 502, 503, 504, 520, 522, 530])
def test_a_proxy_without_an_edge_behind_it_can_have_one_in_a_moment(status: int) -> None:
    with edge(answers(status, b"<html>Connection timed out</html>")) as endpoint:
        with pytest.raises(PurgeFailed) as caught:
            Purger(endpoint, "a-token", retries=0).purge(tags=["a"])
    assert (caught.value.retryable, caught.value.refused) == (True, False)


@pytest.mark.parametrize(
    ("retry_after", "least"), [(b"3", 3.1), (b"Wed, 21 Oct 2026 07:28:00 GMT", 0.1)], ids=["seconds", "a date"]
)
def test_a_purge_is_sent_again_after_the_seconds_that_the_edge_asks_for(
    retry_after: bytes, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(purger, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pauses.append))
    with edge(answers(429, b"", b"Retry-After: %s\r\n" % retry_after), accepts) as endpoint:
        assert Purger(endpoint, "a-token").purge(tags=["a"]).seq == 7
    assert len(pauses) == 1
    assert least <= pauses[0] <= least + 0.1


@pytest.mark.parametrize("retry_after", [b"3", b"Wed, 21 Oct 2026 07:28:00 GMT"], ids=["seconds", "a date"])
def test_a_refusal_is_told_with_its_status_whatever_pause_it_asks_for(retry_after: bytes) -> None:
    with edge(answers(400, b'{"code": "invalid"}', b"Retry-After: %s\r\n" % retry_after)) as endpoint:
        with pytest.raises(PurgeFailed) as caught:
            Purger(endpoint, "a-token").purge(tags=["a"])
    assert (caught.value.status, caught.value.refused) == (400, True)


@pytest.mark.parametrize(
    "answer",
    [
        DRIPPED_FIELDS,
        drips(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n", b" "),
        drips(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n", b" ", seconds=0.0005),
        drips(b"HTTP/1.1 503 No\r\nContent-Length: 10000000\r\n\r\n", b" "),
    ],
    ids=["fields", "body", "quick body", "refusal"],
)
def test_a_server_that_drips_holds_no_call_for_longer_than_the_deadline(answer: Answer) -> None:
    with edge(answer) as endpoint:
        expect_the_end_in_time(endpoint, tags=["a"])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="this machine has no openssl to make a certificate with")
def test_over_tls_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = "req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=test"
    subject = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", *made.split(), *subject], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    with edge(accepts, tls=tls) as endpoint:
        assert Purger(endpoint, "a-token").purge(urls=[f"/{number}" for number in range(10_000)]).seq == 7
    with edge(accepts, tls=tls) as endpoint, pytest.raises(PurgeFailed, match="certificate verify failed") as caught:
        Purger(endpoint.replace("127.0.0.1", "localhost"), "a-token", retries=0).purge(tags=["a"])
    assert "may have happened" not in str(caught.value)
    with edge(DRIPPED_FIELDS, tls=tls) as endpoint:
        expect_the_end_in_time(endpoint, tags=["a"])
    send = ssl.SSLSocket.send

    def slowly(self: ssl.SSLSocket, data: memoryview, flags: int = 0) -> int:
        time.sleep(0.1)
        return send(self, data[:16384], flags)

    monkeypatch.setattr(ssl.SSLSocket, "send", slowly)  # the server reads slowly
    with edge(accepts, tls=tls) as endpoint:
        expect_the_end_in_time(endpoint, urls=[f"/{number}{'x' * 500}" for number in range(7000)])


def test_several_addresses_share_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(socket.socket):
        """A connection to an address where nobody is, not even to refuse it."""

        def connect(self, address: object) -> None:
            time.sleep(min(self.gettimeout() or 10, 10))
            raise TimeoutError("timed out")

    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 9))] * 12
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "socket", Silent)
    expect_the_end_in_time("http://several.example", tags=["a"])


class VirtualTime:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """The time that was waited for 192.0.2.1, which does not answer: the first address of each name, before 127.0.0.1."""
    time = VirtualTime()

    class OneSilent(socket.socket):
        def connect(self, address: tuple[str, int]) -> None:  # type: ignore[override]
            if address[0] == "127.0.0.1":
                return super().connect(address)
            time.now += self.gettimeout() or 1e9
            raise TimeoutError("timed out")

    def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in ("192.0.2.1", "127.0.0.1")]

    monkeypatch.setattr(timed_http, "time", time)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(socket, "socket", OneSilent)
    return time


def test_an_address_that_does_not_answer_takes_its_share_of_the_deadline(silence: VirtualTime) -> None:
    with edge(accepts) as endpoint:
        named = endpoint.replace("127.0.0.1", "two.example")
        assert Purger(named, "a-token", retries=0, deadline=10).purge(tags=["a"]).seq == 7
    assert 4.9 < silence.now <= 5


def test_a_purge_whose_connection_fails_was_not_sent(monkeypatch: pytest.MonkeyPatch, silence: VirtualTime) -> None:
    silent = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 9))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: silent)
    with pytest.raises(PurgeFailed, match="cannot be reached: .*timed out") as caught:
        Purger("http://silent.example", "a-token", retries=0).purge(tags=["a"])
    assert caught.value.retryable
    assert "may have happened" not in str(caught.value)
