"""Serves an application with uvicorn in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from lakeguard.http.certificate import Certificate
from lakeguard.http.listen_address import Place
from lakeguard.http.middleware import PATIENCE_SECONDS
from lakeguard.http.service import Service
from lakeguard_sdk.errors import ListenAddressInUse, ListenerOpen

BACKLOG = 256
GRACE_SECONDS = 30
"""How long open requests may take after the service is stopped."""
_IDLE_SECONDS = 15


@dataclass(frozen=True)
class Listener:
    """A bound socket; connections wait in it until the server runs."""

    place: Place
    sock: socket.socket
    certificate: Certificate | None = None
    trusted_proxies: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        return f"{'https' if self.certificate else 'http'}://{self.place}"


def listen(service: Service) -> Listener:
    """Listens at the service's place. Raises ``ListenerOpen`` if no tokens are required and other
    machines could reach it."""
    everyone = service.has_api and service.authenticate.is_local
    if everyone and not service.place.is_loopback:
        raise ListenerOpen(place=str(service.place))
    bound = bind(service.place)
    return replace(bound, certificate=service.certificate, trusted_proxies=service.trusted_proxies)


def bind(place: Place) -> Listener:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((place.host, place.port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise ListenAddressInUse(place=str(place), reason=error.strerror or str(error)) from None
    return Listener(Place(place.host, int(sock.getsockname()[1])), sock)


def _patient_protocol(seconds: float) -> type[H11Protocol]:
    """Closes connections whose request headers are not complete in time."""

    class PatientProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is not None and not cycle.response_complete:
                self._stop()
            elif self._timer is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._timer = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return PatientProtocol


class _Server(uvicorn.Server):
    """Closes event streams on shutdown, which would not end otherwise."""

    def __init__(self, config: uvicorn.Config, close_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._close_streams = close_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._close_streams()
        await super().shutdown(sockets)


def make_server(
    app: FastAPI, listener: Listener, patience_seconds: float = PATIENCE_SECONDS
) -> uvicorn.Server:
    certificate = listener.certificate
    config = uvicorn.Config(
        app,
        http=_patient_protocol(patience_seconds),
        log_config=None,
        access_log=False,
        proxy_headers=bool(listener.trusted_proxies),
        forwarded_allow_ips=list(listener.trusted_proxies),
        ssl_context_factory=None if certificate is None else lambda *_: certificate.context,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return _Server(config, app.state.close_streams)


@contextmanager
def serving(
    app: FastAPI, listener: Listener, *, patience_seconds: float = PATIENCE_SECONDS
) -> Iterator[Listener]:
    """Serves in a thread until the block ends."""
    server = make_server(app, listener, patience_seconds)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener.sock]}, name="http", daemon=True
    )
    thread.start()
    certificate = listener.certificate
    try:
        with nullcontext() if certificate is None else certificate.reloading():
            yield listener
    finally:
        server.should_exit = True
        thread.join()
        listener.sock.close()
