"""Routes and their authentication, independent of sockets."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from lakeguard.http.listen_address import Place, parse_place
from lakeguard.http.responses import Answer, Declined
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import BadListenAddress, BadToken, Fenced
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.task_token import ticket_of
from lakeguard_sdk.scheduling.tasks import TaskReport
from lakeguard_sdk.security.signed_webhook import SIGNATURE, TIMESTAMP, signature

# Signatures of events.

FRESH_SECONDS = 300
"""Maximum clock difference to the sender; older messages may be replays."""
_MOMENT = re.compile(r"[0-9]{1,12}\Z", re.ASCII)


def is_fresh(timestamp: str, now: float) -> bool:
    return bool(_MOMENT.match(timestamp)) and abs(now - int(timestamp)) <= FRESH_SECONDS


def is_signed(secret: str, timestamp: str, given: str, body: bytes) -> bool:
    wanted = signature(secret, timestamp, body)
    return hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace"))


LARGEST = 256 * 1024
"""Bytes of a body."""
PATHS = {
    "/health": ("GET", "_health"),
    "/tasks/report": ("POST", "_report"),
    "/tasks/keep": ("POST", "_keep"),
    "/events": ("POST", "_event"),
}
"""Path: HTTP method, and the method of ``Routes`` that handles it."""
_STALE = f"{TIMESTAMP} is missing, or more than {FRESH_SECONDS} seconds from this clock"
_JSON_TYPES = ("application/json", "application/cloudevents+json")


@dataclass(frozen=True)
class Request:
    """Header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Routes:
    """Routes of one control plane at one address."""

    client: Client
    place: Place
    secret: Callable[[], str] | None
    """Signing secret of events; None: events are accepted from this machine only."""
    clock: Callable[[], float] = field(default=time.time)

    def find(self, method: str, path: str) -> Callable[[Request], Answer]:
        if path not in PATHS:
            raise Declined(HTTPStatus.NOT_FOUND, "not found")
        allowed, name = PATHS[path]
        if method != allowed:
            raise Declined(HTTPStatus.METHOD_NOT_ALLOWED, f"send {allowed}", Allow=allowed)
        route: Callable[[Request], Answer] = getattr(self, name)
        return route

    def _health(self, _: Request) -> Answer:
        """Unauthenticated and therefore cheap."""
        self.client.dispatch.check()
        return _json({"status": "ok"})

    def _report(self, request: Request) -> Answer:
        ticket = _ticket(request)
        report = TaskReport.model_validate_json(_checked_json(request), strict=True)
        answer = self.client.dispatch.report(ticket, report)
        return Answer(HTTPStatus.OK, answer.to_json().encode())

    def _keep(self, request: Request) -> Answer:
        ticket = _ticket(request)
        leases = self.client.dispatch.keep([ticket])
        if ticket.run_id not in leases:
            raise Fenced(run=ticket.run_id, reason="it has ended")
        return _json({"lease_seconds": leases[ticket.run_id]})

    def _event(self, request: Request) -> Answer:
        self._require_sender(request)
        launches = self.client.jobs.receive(_checked_json(request))
        return _json({"launches": [launch.to_data() for launch in launches]})

    def _require_sender(self, request: Request) -> None:
        given = request.headers.get(SIGNATURE.lower())
        if self.secret is None:
            self._require_here(request)
        elif given is None:
            held = "authorization" in request.headers
            status = HTTPStatus.FORBIDDEN if held else HTTPStatus.UNAUTHORIZED
            how = {} if held else {"WWW_Authenticate": "Signature"}
            raise Declined(status, f"sign the event: {SIGNATURE} and {TIMESTAMP}", **how)
        else:
            timestamp = request.headers.get(TIMESTAMP.lower(), "")
            secret = self.secret()
            if not is_fresh(timestamp, self.clock()):
                raise Declined(HTTPStatus.FORBIDDEN, _STALE)
            if not is_signed(secret, timestamp, given, request.body):
                raise Declined(
                    HTTPStatus.FORBIDDEN, "the signature does not match body and timestamp"
                )

    def _require_here(self, request: Request) -> None:
        """Without a secret: only from this machine, and not from a page in its browser."""
        if not self.place.is_loopback:
            raise Declined(HTTPStatus.FORBIDDEN, "events are accepted once inbox.secret is set")
        if not _names_this_machine(request.headers.get("host", "")):
            raise Declined(HTTPStatus.FORBIDDEN, "the Host header is not a local name")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _JSON_TYPES:
            raise Declined(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send it as {' or '.join(_JSON_TYPES)}"
            )


def _ticket(request: Request) -> RunTicket:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        raise BadToken()
    return ticket_of(token.strip())


def _checked_json(request: Request) -> bytes:
    """The raw body, if it is unambiguous JSON."""
    try:
        read_json(request.body.decode())
    except UnicodeDecodeError:
        raise Declined(HTTPStatus.UNPROCESSABLE_ENTITY, "the body is not UTF-8") from None
    except NotJson as error:
        raise Declined(HTTPStatus.UNPROCESSABLE_ENTITY, f"the body is not JSON: {error}") from None
    return request.body


def _names_this_machine(host: str) -> bool:
    try:
        return parse_place(host if host.rpartition("]")[2].count(":") else f"{host}:0").is_loopback
    except BadListenAddress:
        return False


def _json(data: object) -> Answer:
    return Answer(HTTPStatus.OK, canonical_json(data).encode())
