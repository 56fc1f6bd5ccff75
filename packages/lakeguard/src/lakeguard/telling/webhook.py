"""News by HTTP: one signed POST, no redirect, and never longer than it may take."""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from lakeguard.telling.carrying import NotCarried
from lakeguard.telling.message import Message, signature

SIGNATURE = "X-LakeGuard-Signature"
TIMESTAMP = "X-LakeGuard-Timestamp"
DELIVERY = "X-LakeGuard-Delivery"
MOST_READ = 16 * 1024
"""Of an answer, its head included; more is not looked at."""
_LATER = (408, 425, 429)


@dataclass(frozen=True)
class Webhook:
    """What answers 2xx has the message. A receiver may get it twice, with the same delivery id,
    where a process died after the answer."""

    url: str
    secret: str
    timeout_seconds: float
    marked_first: ClassVar[bool] = False
    clock: Callable[[], float] = time.time

    def carry(self, message: Message, seconds: float) -> None:
        deadline = time.monotonic() + min(seconds, self.timeout_seconds)
        try:
            status = self._post(message, deadline)
        except TimeoutError:
            raise NotCarried("it did not answer in time") from None
        except ssl.SSLError as error:
            raise NotCarried(f"no trust in its certificate: {error.reason}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = getattr(error, "strerror", None) or type(error).__name__
            raise NotCarried(f"it cannot be reached: {said}") from None
        if not 200 <= status < 300:
            refused = 400 <= status < 500 and status not in _LATER
            raise NotCarried(f"it answered {status}", refused=refused)

    def _post(self, message: Message, deadline: float) -> int:
        connection = self._connection(deadline)
        with closing(connection):
            connection.sock.settimeout(_left(deadline))
            connection.request("POST", self._target, message.body, self._headers(message))
            timed = _TimedSocket(connection.sock, deadline)
            response = http.client.HTTPResponse(cast(socket.socket, timed), method="POST")
            with closing(response):
                response.begin()
                return response.status

    def _connection(self, deadline: float) -> http.client.HTTPConnection:
        """Connected; with TLS, to whom the address names."""
        parts = urlsplit(self.url)
        host = str(parts.hostname)
        if parts.scheme == "http":
            plain = http.client.HTTPConnection(host, parts.port)
            plain.sock = _connected(host, plain.port, deadline)
            return plain
        secure = http.client.HTTPSConnection(host, parts.port)
        sock = _connected(host, secure.port, deadline)
        try:
            sock.settimeout(_left(deadline))
            secure.sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise
        return secure

    @property
    def _target(self) -> str:
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _headers(self, message: Message) -> dict[str, str]:
        timestamp = str(int(self.clock()))
        return {
            "Content-Type": message.content_type,
            "User-Agent": "lakeguard",
            "Connection": "close",
            DELIVERY: message.delivery,
            TIMESTAMP: timestamp,
            SIGNATURE: signature(self.secret, timestamp, message.body),
        }


def _connected(host: str, port: int, deadline: float) -> socket.socket:
    """To the first of the host's addresses that answers, all of them within one deadline."""
    problem: OSError = TimeoutError()
    for family, kind, protocol, _, place in _looked_up(host, port, deadline):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(deadline))
            sock.connect(place)
        except OSError as error:
            sock.close()
            problem = error
            continue
        return sock
    raise problem


def _looked_up(host: str, port: int, deadline: float) -> list[Any]:
    """The host's addresses. The system's lookup knows no deadline, so that a thread asks, and is
    left behind where it takes too long."""
    answers: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, ValueError) as error:
            answers.put(error)

    try:
        threading.Thread(target=ask, daemon=True).start()
    except RuntimeError:  # from Python 3.12 on, none can be started when the process ends
        ask()
    try:
        found = answers.get(timeout=_left(deadline))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        raise found
    return found


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class _TimedSocket:
    """As much of a socket as reads an answer: the whole of it within one deadline, however slowly
    it comes, and no more than its first part."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.raw = _TimedBytes(sock, deadline)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(self.raw)


class _TimedBytes(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.sock, self.deadline, self.left = sock, deadline, MOST_READ

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.left <= 0:
            raise TimeoutError
        self.sock.settimeout(_left(self.deadline))
        count = self.sock.recv_into(memoryview(buffer)[: self.left])
        self.left -= count
        return count
