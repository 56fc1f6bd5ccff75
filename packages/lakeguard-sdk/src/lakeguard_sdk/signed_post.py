"""One signed POST: no redirect, and never longer than it may take."""

from __future__ import annotations

import hashlib
import hmac
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
from typing import Any, cast
from urllib.parse import urlsplit

from lakeguard_sdk.timed_bytes import TimedBytes, TooLong, seconds_left

SIGNATURE = "X-LakeGuard-Signature"
TIMESTAMP = "X-LakeGuard-Timestamp"
DELIVERY = "X-LakeGuard-Delivery"
MOST_HEAD = 16 * 1024
"""Bytes of an answer before its body; whoever says more has not answered."""
_LATER = (408, 425, 429)


class NoAnswer(Exception):
    """Why nobody answered; the reason holds no secret and no address."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes | None = b""
    """Empty where nobody asked for it; None where it is longer than what was asked for."""

    @property
    def is_yes(self) -> bool:
        return 200 <= self.status < 300

    @property
    def may_pass(self) -> bool:
        """Of a no: whether the same may be taken later."""
        return self.status >= 500 or self.status in _LATER


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Of the time and the body together: neither can be exchanged for another."""
    signed = b".".join((timestamp.encode(), body))
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class SignedPost:
    """``delivery`` is the same for the same message, so that a receiver can drop a repeat."""

    url: str
    secret: str
    delivery: str
    body: bytes
    content_type: str = "application/json"
    clock: Callable[[], float] = time.time

    def send(self, seconds: float, *, most: int = 0) -> Answer:
        """What the receiver answered within that time, with a body of at most so many bytes;
        ``NoAnswer`` for whatever went wrong."""
        try:
            return self._send(time.monotonic() + seconds, most)
        except TimeoutError:
            raise NoAnswer("it did not answer in time") from None
        except TooLong:
            raise NoAnswer("its answer has no end") from None
        except ssl.SSLError as error:
            raise NoAnswer(f"no trust in its certificate: {error.reason}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = getattr(error, "strerror", None) or type(error).__name__
            raise NoAnswer(f"it cannot be reached: {said}") from None

    def _send(self, deadline: float, most: int) -> Answer:
        connection = self._connection(deadline)
        with closing(connection):
            connection.sock.settimeout(seconds_left(deadline))
            connection.request("POST", self._target, self.body, self._headers())
            timed = _TimedSocket(TimedBytes(connection.sock, deadline, MOST_HEAD + 2 * most))
            response = http.client.HTTPResponse(cast(socket.socket, timed), method="POST")
            with closing(response):
                response.begin()
                return Answer(response.status, _body(response, most) if most else b"")

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
            sock.settimeout(seconds_left(deadline))
            secure.sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise
        return secure

    @property
    def _target(self) -> str:
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _headers(self) -> dict[str, str]:
        timestamp = str(int(self.clock()))
        return {
            "Content-Type": self.content_type,
            "User-Agent": "lakeguard",
            "Connection": "close",
            DELIVERY: self.delivery,
            TIMESTAMP: timestamp,
            SIGNATURE: signature(self.secret, timestamp, self.body),
        }


def _body(response: http.client.HTTPResponse, most: int) -> bytes | None:
    """All of it, however its end is told; None where it is longer."""
    if response.length is not None:
        return response.read() if response.length <= most else None
    try:
        body = response.read(most + 1)
    except TooLong:
        return None
    return body if len(body) <= most else None


def _connected(host: str, port: int, deadline: float) -> socket.socket:
    """To the first of the host's addresses that answers, all of them within one deadline."""
    problem: OSError = TimeoutError()
    for family, kind, protocol, _, place in _looked_up(host, port, deadline):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(seconds_left(deadline))
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
        found = answers.get(timeout=seconds_left(deadline))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, Exception):
        raise found
    return found


@dataclass(frozen=True)
class _TimedSocket:
    """As much of a socket as reads an answer: the whole of it within one deadline, however slowly
    it comes, and no more than its first part."""

    raw: TimedBytes

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(self.raw)
