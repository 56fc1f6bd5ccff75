"""Carries out the steps of remote calls with httpx, blocking or in an event loop."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from lakeguard_sdk.api.operations import operations_by_name
from lakeguard_sdk.api.remote_calls import (
    Lost,
    Pause,
    Reply,
    Request,
    Send,
    Steps,
    Work,
    call_steps,
    sent_by,
)
from lakeguard_sdk.backoff import rest

T = TypeVar("T")

TIMEOUT = httpx.Timeout(300.0, connect=10.0)
_NO_TLS = "WRONG_VERSION_NUMBER"
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Transport:
    """Blocks until each step is done. Thread-safe."""

    http: httpx.Client
    sleep: Callable[[float], None] = rest

    def carry_out(self, steps: Steps[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
            match step:
                case Send(request):
                    answer = self._sent(request)
                case Pause(seconds):
                    self.sleep(seconds)
                case Work(do, argument):
                    answer = do(argument)

    def _sent(self, request: Request) -> Reply | Lost:
        try:
            return _reply(self.http.request(*_parts(request), **_details(request)))
        except httpx.TransportError as error:
            return _lost(error)


@dataclass(frozen=True)
class AsyncTransport:
    """Callbacks of the caller run in a thread."""

    http: httpx.AsyncClient

    async def carry_out(self, steps: Steps[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
            match step:
                case Send(request):
                    answer = await self._sent(request)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Work(do, argument):
                    answer = await asyncio.to_thread(do, argument)

    async def _sent(self, request: Request) -> Reply | Lost:
        try:
            return _reply(await self.http.request(*_parts(request), **_details(request)))
        except httpx.TransportError as error:
            return _lost(error)


def _parts(request: Request) -> tuple[str, str]:
    return request.verb, request.url


def _details(request: Request) -> dict[str, Any]:
    query = list(request.query) or None
    return {"params": query, "content": request.body, "headers": dict(request.headers)}


def _reply(response: httpx.Response) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, response.content)


def _lost(error: httpx.TransportError) -> Lost:
    return Lost(
        str(error) or type(error).__name__,
        was_sent=not isinstance(error, _NEVER_SENT),
        is_untrusted=any(map(_is_untrusted, _causes(error))),
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_untrusted(error: BaseException) -> bool:
    """A handshake that was cut off is none of these: the service may be starting."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return True
    return isinstance(error, ssl.SSLError) and error.reason == _NO_TLS


# Ports.


@dataclass(frozen=True)
class RemotePort:
    """A port of a service. Each method is one operation."""

    transport: Transport | AsyncTransport
    port: str
    service: str
    token: str = field(default="", repr=False)
    """Overrides the token of the transport."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        operation = operations_by_name().get(f"{self.port}.{method}")
        if operation is None:
            raise AttributeError(f"{self.port} has no method {method!r}")

        def call(*args: Any, **fields: Any) -> Any:
            steps = call_steps(operation, args, fields, self.service)
            if self.token:
                steps = sent_by(self.token, steps)
            return self.transport.carry_out(steps)

        call.__name__ = method
        return call
