"""The door of a control plane for tests, and those who come to it: well behaved, or not at all."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from lakeguard.http import Inbox, parse_place, serve
from lakeguard.insight.reader.reader import StateReader
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.task_token import token_of
from lakeguard_sdk.security.signed_webhook import SIGNATURE, TIMESTAMP, signature

SECRET = "a secret of tests"


@dataclass(frozen=True)
class Ports:
    """Those that the door asks, over one State."""

    reader: StateReader
    dispatch: EmbeddedDispatch
    jobs: EmbeddedJobs


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        return cast(dict[str, Any], json.loads(self.body))


@contextmanager
def door(
    context: PlaneContext,
    listen: str = "127.0.0.1:0",
    *,
    secret: str | Callable[[], str] | None = None,
    patience: float = 30.0,
) -> Iterator[Inbox]:
    ports = Ports(
        StateReader(context, context.lake),
        EmbeddedDispatch(context),
        EmbeddedJobs(context),
    )
    asked = (lambda: secret) if isinstance(secret, str) else secret
    place = parse_place(listen)
    with serve(cast(Client, ports), place, asked, patience_seconds=patience) as inbox:
        yield inbox


def ask(inbox: Inbox, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
    """One request; underscores in names of headers are written as dashes."""
    connection = http.client.HTTPConnection("127.0.0.1", inbox.place.port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(connection):
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        described = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, described, response.read())


def send_report(inbox: Inbox, ticket: RunTicket, body: bytes | str) -> Reply:
    raw = body.encode() if isinstance(body, str) else body
    return ask(inbox, "POST", "/tasks/report", raw, Authorization=f"Bearer {token_of(ticket)}")


def signed(body: bytes, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    moment = str(int(time.time() if at is None else at))
    return {
        SIGNATURE.replace("-", "_"): signature(secret, moment, body),
        TIMESTAMP.replace("-", "_"): moment,
    }


def send_raw(inbox: Inbox, raw: bytes) -> bytes:
    """Bytes as they are; what comes back until the other side hangs up."""
    with closing(socket.create_connection(("127.0.0.1", inbox.place.port), 30)) as sock:
        try:
            sock.sendall(raw)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough
        got = b""
        while part := sock.recv(65_536):
            got += part
        return got
