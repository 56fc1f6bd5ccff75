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

from lakeguard.http import Place, parse_place
from lakeguard.http.app import create_app
from lakeguard.http.authenticate import LocalAuthenticator
from lakeguard.http.listener import listen as bound
from lakeguard.http.listener import serving
from lakeguard.http.middleware import MOST_AT_ONCE, PATIENCE_SECONDS
from lakeguard.http.service import Service
from lakeguard.insight.reader.reader import StateReader
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.services.request_keys import RequestKeys
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.security.signed_webhook import SIGNATURE, TIMESTAMP, signature
from tests.support.fakes.task_tokens import ticket_of, token_of

SECRET = "a secret of tests"


@dataclass(frozen=True)
class Ports:
    """Those that the door asks, over one State."""

    reader: StateReader
    dispatch: EmbeddedDispatch
    jobs: EmbeddedJobs


@dataclass(frozen=True)
class Inbox:
    """A door that is open."""

    place: Place

    @property
    def url(self) -> str:
        return f"http://{self.place}"


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
    patience: float = PATIENCE_SECONDS,
    at_once: int = MOST_AT_ONCE,
) -> Iterator[Inbox]:
    ports = Ports(
        StateReader(context, context.lake),
        EmbeddedDispatch(context),
        EmbeddedJobs(context),
    )
    asked = (lambda: secret) if isinstance(secret, str) else secret
    place = parse_place(listen)
    with serve(cast(Client, ports), place, asked, patience=patience, at_once=at_once) as inbox:
        yield inbox


@contextmanager
def serve(
    client: Client,
    place: Place,
    secret: Callable[[], str] | None = None,
    *,
    patience: float = PATIENCE_SECONDS,
    at_once: int = MOST_AT_ONCE,
) -> Iterator[Inbox]:
    """For reports and events alone."""
    service = inbox_service(client, place, secret)
    app = create_app(service, patience_seconds=patience, most_at_once=at_once)
    with serving(app, bound(service), patience_seconds=patience) as listener:
        yield Inbox(listener.place)


def inbox_service(client: Client, place: Place, secret: Callable[[], str] | None = None) -> Service:
    return Service(
        client=client,
        organisation="default",
        authenticate=LocalAuthenticator("default", ticket_of),
        client_for=lambda _: client,
        keys_for=lambda _: RequestKeys(cast(OrganisationState, None), "nobody"),
        ticket_of=ticket_of,
        place=place,
        inbox_secret=secret,
        has_api=False,
    )


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
    return ask(
        inbox, "POST", "/api/v1/tasks/report", raw, Authorization=f"Bearer {token_of(ticket)}"
    )


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
