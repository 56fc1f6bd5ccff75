"""Clients of a service, synchronous and asynchronous."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.api.operation_state import ServiceInfo
from lakeguard_sdk.api.operations import PORTS
from lakeguard_sdk.api.remote_calls import Request, read_answer, sent
from lakeguard_sdk.api.task_runs import TaskRuns
from lakeguard_sdk.api.transport import TIMEOUT, AsyncTransport, RemotePort, Transport
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import BadToken
from lakeguard_sdk.scheduling.task_token import SERVICE_PREFIX

TOKEN_VARIABLE = "LAKEGUARD_TOKEN"  # noqa: S105 - the name of the variable
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)
"""Idle connections are closed before the service closes them."""
_SENDABLE = re.compile("[!-~]*")
_INFO = Request("GET", f"{PREFIX}/service")


def connect_remote(url: str, *, token: str | None = None) -> Client:
    """A client of the service at ``url``. With a task token, it may do only what the run may."""
    base, service = url.rstrip("/"), without_password(url.rstrip("/"))
    http = httpx.Client(base_url=base, timeout=TIMEOUT, limits=_LIMITS, headers=_headers(token))
    transport = Transport(http)
    weakref.finalize(transport, http.close)  # the ports hold it
    info: ServiceInfo = read_answer(ServiceInfo, transport.carry_out(sent(_INFO, service)).body)
    ports: dict[str, Any] = {name: RemotePort(transport, name, service) for name in PORTS}
    if _token(token).startswith(SERVICE_PREFIX):
        ports["runs"] = TaskRuns(ports["runs"])
    return Client(
        lake=info.lake,
        spark_options=info.spark_options,
        heartbeat_seconds=info.heartbeat_seconds,
        actions=None if info.actions is None else frozenset(info.actions),
        **ports,
    )


@dataclass(frozen=True)
class AsyncClient:
    """The ports of a service, with methods to be awaited.

    Use ``async with connect_async(url) as client``.
    """

    ports: Mapping[str, RemotePort]
    http: httpx.AsyncClient

    def __getattr__(self, port: str) -> Any:
        try:
            return self.ports[port]
        except KeyError:
            raise AttributeError(f"a client has no port {port!r}") from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.http.aclose()


def connect_async(url: str, *, token: str | None = None) -> AsyncClient:
    """The same for an event loop; no request is sent before the first call."""
    base, service = url.rstrip("/"), without_password(url.rstrip("/"))
    http = httpx.AsyncClient(
        base_url=base, timeout=TIMEOUT, limits=_LIMITS, headers=_headers(token)
    )
    transport = AsyncTransport(http)
    return AsyncClient({name: RemotePort(transport, name, service) for name in PORTS}, http)


def without_password(url: str) -> str:
    """The URL without user and password, for messages."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _headers(token: str | None) -> dict[str, str]:
    sent_token = _token(token)
    found = {"User-Agent": "lakeguard-sdk", "Accept": "application/json"}
    return {**found, "Authorization": f"Bearer {sent_token}"} if sent_token else found


def _token(given: str | None) -> str:
    """Secret files often end with a line break, so surrounding white space is removed."""
    text = (given or os.environ.get(TOKEN_VARIABLE, "")).strip()
    if not _SENDABLE.fullmatch(text):
        raise BadToken()
    return text
