"""A small threaded HTTP server."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any

from lakeguard.http.handler import Handler
from lakeguard.http.listen_address import Place
from lakeguard.http.responses import PROBLEM, RETRY_SECONDS, problem
from lakeguard.http.routes import Routes
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import ListenAddressInUse

_log = logging.getLogger(__name__)
MOST_AT_ONCE = 128
"""Concurrent requests; further ones wait briefly and then get 503."""
WAIT_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
"""Time limit for receiving a request."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Inbox:
    """A running server."""

    place: Place

    @property
    def url(self) -> str:
        return f"http://{self.place}"


@contextmanager
def serve(
    client: Client,
    place: Place,
    secret: Callable[[], str] | None,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[Inbox]:
    """Serves until the block ends; ``secret`` is resolved now, and again for each event."""
    if secret is not None:
        secret()
    server = _listen(place)
    bound = Place(place.host, int(server.server_address[1]))
    server.RequestHandlerClass = type(
        "BoundHandler",
        (Handler,),
        {"routes": Routes(client, bound, secret), "patience_seconds": patience_seconds},
    )
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield Inbox(bound)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listen(place: Place) -> _Server:
    kind = _Server6 if ":" in place.host else _Server
    try:
        return kind((place.host, place.port), Handler)
    except OSError as error:
        raise ListenAddressInUse(place=str(place), reason=error.strerror or str(error)) from None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, *args: Any) -> None:
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Limits concurrent requests."""
        if not self._free.acquire(timeout=WAIT_SECONDS):
            with suppress(OSError):
                request.settimeout(WAIT_SECONDS)
                request.sendall(_BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs our errors, not broken connections."""
        error = sys.exception()
        if not isinstance(error, OSError):
            _log.error("connection failed", exc_info=error)


def _busy() -> bytes:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    body = problem(status, status.phrase, "too many concurrent requests")
    head = (
        f"HTTP/1.1 {int(status)} {status.phrase}\r\nContent-Type: {PROBLEM}\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: {RETRY_SECONDS}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


_BUSY = _busy()


class _Server6(_Server):
    address_family = socket.AF_INET6
