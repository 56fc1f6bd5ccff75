"""Handler of one request per connection, within one deadline."""

from __future__ import annotations

import io
import logging
import socket
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from lakeguard.http.responses import Answer, Declined, answer_to
from lakeguard.http.routes import LARGEST, Request, Routes
from lakeguard_sdk.errors import SettingsError

_log = logging.getLogger(__name__)
_LONGEST_LENGTH = 12
_LAST_SECONDS = 1.0
_AT_ONCE = 65_536
MOST_DROPPED = 64 * 1024 * 1024
"""Bytes of an unread body that are drained; a larger one may lose the response."""


class Handler(BaseHTTPRequestHandler):
    """Closes the connection after each response, which rules out request smuggling."""

    protocol_version = "HTTP/1.1"
    server_version = "lakeguard"
    sys_version = ""
    routes: Routes
    patience_seconds: float

    def setup(self) -> None:
        super().setup()
        self._deadline = time.monotonic() + self.patience_seconds
        self.rfile = io.BufferedReader(_TimedBytes(self.connection, self._deadline))

    def handle(self) -> None:
        """A client that disconnects or exceeds the deadline gets no response."""
        try:
            self.handle_one_request()
        except (OSError, TimeoutError):
            self.close_connection = True

    def do_POST(self) -> None:
        self._answer()
        self._drain()

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_POST

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Malformed requests get a problem document like all others."""
        status = HTTPStatus(code)
        self._send(answer_to(Declined(status, status.description or status.phrase)))

    def log_message(self, format: str, *args: Any) -> None:
        """No access log: headers hold tokens, paths hold names."""

    def _answer(self) -> None:
        try:
            if "Origin" in self.headers:
                raise Declined(HTTPStatus.FORBIDDEN, "requests from browser pages are not allowed")
            route = self.routes.find(self.command, self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = route(Request(self.path, headers, self._body()))
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:  # noqa: BLE001 - the caller always gets a response
            answer = answer_to(error)
            ours = answer.status is HTTPStatus.INTERNAL_SERVER_ERROR
            if ours or isinstance(error, SettingsError):
                _log.error("request failed", exc_info=error)
        self._send(answer)

    def _body(self) -> bytes:
        """The whole body; refused before it is read if its length is not acceptable."""
        if "Transfer-Encoding" in self.headers or "Content-Encoding" in self.headers:
            raise _too_large()
        lengths = self.headers.get_all("Content-Length") or ["0"]
        length = lengths[0]
        if len(lengths) > 1 or not (length.isascii() and length.isdigit()):
            raise Declined(HTTPStatus.BAD_REQUEST, "Content-Length must be one number")
        if len(length) > _LONGEST_LENGTH or int(length) > LARGEST:
            raise _too_large()
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionError("client disconnected")
        return body

    def _drain(self) -> None:
        """Drains unread bytes: many clients read only after sending everything, and closing a
        connection with unread bytes may lose the response."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(_LAST_SECONDS)
        left = MOST_DROPPED
        while left > 0 and time.monotonic() < self._deadline:
            dropped = len(self.connection.recv(_AT_ONCE))
            if not dropped:
                return
            left -= dropped

    def _send(self, answer: Answer) -> None:
        self.close_connection = True
        self.request_version = self.protocol_version  # always send a status line
        self.send_response_only(answer.status)
        headers = {
            "Content-Type": answer.content_type,
            "Content-Length": str(len(answer.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
            **answer.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def _too_large() -> Declined:
    detail = f"a body needs a Content-Length, no encoding, and at most {LARGEST:,} bytes"
    return Declined(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)


class _TimedBytes(io.RawIOBase):
    """Reads from a socket until a total deadline, then raises ``TimeoutError``."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._sock.settimeout(seconds)
        return self._sock.recv_into(buffer)
