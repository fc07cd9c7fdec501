"""HTTP by a deadline. The timeout of urllib is for each read and write, so a server that drips bytes could hold a call for ever."""

import functools
import http.client
import io
import socket
import time
from typing import Any
from urllib.request import HTTPErrorProcessor, HTTPHandler, HTTPSHandler, Request, build_opener

BYTES_AT_ONCE = 16 * 1024
"""What is written under one timeout."""


class Deadline:
    def __init__(self, seconds: float):
        self._ends_at = time.monotonic() + seconds

    def shorten(self, seconds: float) -> None:
        self._ends_at = min(self._ends_at, time.monotonic() + seconds)

    def left(self) -> float:
        """The seconds that are left. TimeoutError if none are."""
        seconds = self._ends_at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        return seconds


class NotConnected(OSError):
    """Nothing was sent, because no connection was made."""


class _Reader(io.RawIOBase):
    """The bytes of a connection, each read of which waits for what is left of the time."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: Deadline):
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, deadline: Deadline, **kwargs: Any):
        super().__init__(sock, *args, **kwargs)
        self.deadline = deadline
        """Of all that is read. It may be shortened."""
        self.fp = io.BufferedReader(_Reader(self.fp.detach(), sock, deadline))


class _Connection(http.client.HTTPConnection):
    """A connection whose timeout is for all that is done over it."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._deadline = Deadline(self.timeout or 0)
        self.response_class = functools.partial(Answer, deadline=self._deadline)  # type: ignore[assignment]
        self._create_connection = self._connected

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(self._deadline.left())  # of the TLS handshake, which follows

    def send(self, data: Any) -> None:
        if self.sock is None:
            try:
                self.connect()
            except OSError as failure:
                raise NotConnected(str(failure)) from failure
        for start in range(0, len(data), BYTES_AT_ONCE):
            self.sock.settimeout(self._deadline.left())
            super().send(data[start : start + BYTES_AT_ONCE])

    def _connected(self, address: tuple[str, int], *_: Any) -> socket.socket:
        """To the first of the host's addresses that answers. Each may take its share of the time that is left."""
        failure = OSError(f"{address[0]} has no address")
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
        for index, (family, kind, protocol, _name, each) in enumerate(found):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(self._deadline.left() / (len(found) - index))
                sock.connect(each)
                return sock
            except OSError as error:
                sock.close()
                failure = error
        raise failure


class _TlsConnection(http.client.HTTPSConnection, _Connection):
    """`HTTPSConnection` makes its connection by the next class, and then the handshake."""


class _Http(HTTPHandler):
    def http_open(self, request: Request) -> Any:
        return self.do_open(_Connection, request)


class _Https(HTTPSHandler):
    def https_open(self, request: Request) -> Any:
        return self.do_open(_TlsConnection, request)


class _EveryAnswer(HTTPErrorProcessor):
    """Hands out refusals like all answers, and redirects, too: urllib follows a redirected POST with a GET."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response


_opener = build_opener(_Http, _Https, _EveryAnswer)


def ask(request: Request, seconds: float) -> Answer:
    """The answer, whatever its status. It has to be read in this time, too."""
    answer: Answer = _opener.open(request, timeout=seconds)
    return answer
