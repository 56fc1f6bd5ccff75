"""Middleware of every request: its id, limits, log line, metrics and trace.

All errors become problem documents here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lakeguard.http.listen_address import names_this_machine
from lakeguard.http.log_lines import ACCESS, lines_of_request
from lakeguard.http.rate_limits import RateLimits
from lakeguard.http.responses import Answer, Declined, answer_to
from lakeguard.http.traces import NoTraces, Traces
from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.errors import ServiceBusy, SettingsError
from lakeguard_sdk.security.secret_values import without_credentials

_log = logging.getLogger(__name__)
access_log = logging.getLogger(ACCESS)

LARGEST_BODY = 16 * 1024 * 1024
LARGEST_MESSAGE = 256 * 1024
"""Bytes of the body of a report or an event from outside."""
MESSAGE_PATHS = frozenset(f"{PREFIX}/{path}" for path in ("tasks/report", "tasks/keep", "events"))
PATIENCE_SECONDS = 30.0
"""Time limit for receiving a body."""
MOST_AT_ONCE = 128
"""Concurrent requests; further ones are refused with 429."""
MOST_DROPPED = 64 * 1024 * 1024
"""Bytes of a refused body that are read and dropped, because many clients only read the response
after they have sent everything."""
_LAST_SECONDS = 1.0
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z", re.ASCII)
_IDS = ("run_id", "task_id", "operation_id")
SECURITY_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class RequestFigures(Protocol):
    """Counts requests."""

    def ended(self, operation: str, status: int, seconds: float) -> None: ...


@dataclass
class _Exchange:
    """One request and what became of it."""

    request_id: str
    scope: Scope
    began: float = field(default_factory=time.monotonic)
    status: int = 0
    received: int = 0
    body_ended: bool = False

    @property
    def path(self) -> str:
        return str(self.scope["path"])

    @property
    def operation(self) -> str:
        return str(self.scope["state"].get("operation", ""))

    def ids(self) -> dict[str, str]:
        """Of run, task and operation, as the path has them."""
        path = self.scope.get("path_params") or {}
        return {name: without_credentials(str(path[name]))[:64] for name in _IDS if name in path}

    def log_ids(self) -> dict[str, str]:
        return {"request_id": self.request_id, **self.ids()}

    def attributes(self) -> dict[str, str | int]:
        """For a trace."""
        principal = self.scope["state"].get("principal")
        own = {
            "request_id": self.request_id,
            "organisation": getattr(principal, "org_id", ""),
            **self.ids(),
        }
        named = {f"lakeguard.{name}": value for name, value in own.items() if value}
        return {"http.response.status_code": self.status, **named}

    @property
    def address(self) -> str:
        client = self.scope.get("client")
        return "" if client is None else str(client[0])


@dataclass(frozen=True)
class Guard:
    app: ASGIApp
    is_local: bool
    """Whether no token is required. Then the Host header must name this machine, against DNS
    rebinding."""
    figures: RequestFigures | None = None
    limits: RateLimits | None = None
    traces: Traces = field(default_factory=NoTraces)
    patience_seconds: float = PATIENCE_SECONDS
    most_at_once: int = MOST_AT_ONCE
    _under_way: set[str] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        is_id = _REQUEST_ID.match(given) and without_credentials(given) == given
        exchange = _Exchange(given if is_id else uuid.uuid4().hex, scope)
        scope.setdefault("state", {})
        key = f"{exchange.request_id} {id(exchange)}"
        self._under_way.add(key)
        with (
            lines_of_request(exchange.log_ids),
            self.traces.request(headers, scope["method"]) as describe,
        ):
            try:
                await self._exchange(exchange, headers, receive, send)
            finally:
                self._under_way.discard(key)
                self._note_credential(exchange, headers)
                self._note(exchange)
                describe(exchange.operation or "other", exchange.attributes())

    async def _exchange(
        self, exchange: _Exchange, headers: Headers, receive: Receive, send: Send
    ) -> None:
        limited = _LimitedBody(exchange, receive, time.monotonic() + self.patience_seconds)
        answering = _Answering(exchange, send)
        try:
            self._check(exchange, headers)
            await self.app(exchange.scope, limited, answering)
        except ClientDisconnect:
            return
        except Exception as error:
            if answering.began:
                _log.error("request %s failed", exchange.request_id, exc_info=error)
                raise
            await self._refuse(error, limited, answering)

    def _check(self, exchange: _Exchange, headers: Headers) -> None:
        """Before anything is read."""
        if len(self._under_way) > self.most_at_once:
            raise ServiceBusy(reason=f"{self.most_at_once} requests are in progress")
        if "origin" in headers:
            raise Declined(HTTPStatus.FORBIDDEN, "requests from browser pages are not allowed")
        if self.is_local and not names_this_machine(headers.get("host", "")):
            raise Declined(HTTPStatus.FORBIDDEN, "the Host header is not a local name")
        if self.limits is not None and "authorization" in headers:
            self.limits.check_address(exchange.address, headers["authorization"])
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Declined(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding is not supported")
        length, limit = headers.get("content-length"), limit_of(exchange.path)
        if length is not None and (not length.isascii() or not length.isdigit()):
            raise Declined(HTTPStatus.BAD_REQUEST, "Content-Length must be one number")
        if length is not None and (len(length) > 12 or int(length) > limit):
            raise too_large(limit)

    async def _refuse(self, error: Exception, body: _LimitedBody, answering: _Answering) -> None:
        answer = answer_to(error)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR and (
            answer.status is HTTPStatus.INTERNAL_SERVER_ERROR or isinstance(error, SettingsError)
        ):
            _log.error("request %s failed", answering.exchange.request_id, exc_info=error)
        drop = not answering.exchange.body_ended
        await send_answer(answer, answering, close=drop, more=drop)
        if drop:
            await body.drop()
            await answering({"type": "http.response.body", "body": b""})

    def _note_credential(self, exchange: _Exchange, headers: Headers) -> None:
        credential = headers.get("authorization")
        if self.limits is None or credential is None:
            return
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            self.limits.note_refused(exchange.address, credential)
        elif {"principal", "credential_accepted"} & exchange.scope["state"].keys():
            self.limits.note_good(credential)

    def _note(self, exchange: _Exchange) -> None:
        """Ids and figures; no header, no body, no value of the query."""
        seconds = time.monotonic() - exchange.began
        state: MutableMapping[str, Any] = exchange.scope["state"]
        if self.figures is not None:
            self.figures.ended(exchange.operation, exchange.status, seconds)
        if not access_log.isEnabledFor(logging.INFO):
            return
        principal = state.get("principal")
        line = {
            "request_id": exchange.request_id,
            "method": exchange.scope["method"],
            "operation": exchange.operation,
            "status": exchange.status,
            "client": exchange.address,
            "scheme": exchange.scope.get("scheme", ""),
            "milliseconds": round(seconds * 1000, 1),
            "actor": getattr(principal, "name", ""),
            "organisation": getattr(principal, "org_id", ""),
            **exchange.ids(),
        }
        access_log.info(json.dumps({name: value for name, value in line.items() if value != ""}))


def limit_of(path: str) -> int:
    return LARGEST_MESSAGE if path in MESSAGE_PATHS else LARGEST_BODY


def too_large(limit: int) -> Declined:
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return Declined(status, f"the body may have at most {limit:,} bytes")


@dataclass(frozen=True)
class _LimitedBody:
    """Receives a body within its limit and its deadline."""

    exchange: _Exchange
    receive: Receive
    deadline: float

    async def __call__(self) -> Message:
        if self.exchange.body_ended:  # the application waits for a disconnect
            return await self.receive()
        try:
            async with asyncio.timeout(max(0.0, self.deadline - time.monotonic())):
                message = await self.receive()
        except TimeoutError:
            raise Declined(HTTPStatus.REQUEST_TIMEOUT, "the body arrived too late") from None
        if message["type"] != "http.request":
            raise ClientDisconnect()
        self.exchange.received += len(message.get("body", b""))
        self.exchange.body_ended = not message.get("more_body", False)
        limit = limit_of(self.exchange.path)
        if self.exchange.received > limit:
            raise too_large(limit)
        return message

    async def drop(self) -> None:
        """Reads and drops the rest of a body, within limits."""
        left = MOST_DROPPED
        while left > 0 and not self.exchange.body_ended:
            try:
                async with asyncio.timeout(_LAST_SECONDS):
                    message = await self.receive()
            except TimeoutError:
                return
            if message["type"] != "http.request":
                return
            left -= len(message.get("body", b""))
            self.exchange.body_ended = not message.get("more_body", False)


@dataclass
class _Answering:
    """Adds the headers that every response has."""

    exchange: _Exchange
    send: Send
    began: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            self.exchange.status = message["status"]
            given = {name.lower() for name, _ in message.get("headers", ())}
            more = [each for each in SECURITY_HEADERS if each[0] not in given]
            request_id = (b"x-request-id", self.exchange.request_id.encode())
            message = {**message, "headers": [*message.get("headers", ()), *more, request_id]}
        await self.send(message)


async def send_answer(answer: Answer, send: Send, *, close: bool = False, more: bool) -> None:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in answer.headers.items()
    ]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    if answer.body:
        headers.append((b"content-type", answer.content_type.encode()))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": int(answer.status), "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": more})
