"""Reports of tasks and events from other systems, authenticated by task tokens and by signatures of
events. Independent of sockets."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from lakeguard.http.listen_address import Place, names_this_machine
from lakeguard.http.request_values import checked_json
from lakeguard.http.responses import Answer, Declined
from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import BadToken, Fenced
from lakeguard_sdk.model.run import RunTicket
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


PATHS = {
    f"{PREFIX}/tasks/report": "_report",
    f"{PREFIX}/tasks/keep": "_keep",
    f"{PREFIX}/events": "_event",
}
"""Path, and the method of ``Inbox`` that answers a POST to it."""
_STALE = f"{TIMESTAMP} is missing, or more than {FRESH_SECONDS} seconds from this clock"
_JSON_TYPES = ("application/json", "application/cloudevents+json")


@dataclass(frozen=True)
class Request:
    """Header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Inbox:
    """Of one control plane at one address."""

    client: Client
    place: Place
    secret: Callable[[], str] | None
    """Signing secret of events; None: events are accepted from this machine only, or not at all."""
    ticket_of: Callable[[str], RunTicket]
    """The ticket in a task token; raises ``BadToken``."""
    asks_who: bool = False
    """Whether the API requires tokens; then events always require a signature."""
    clock: Callable[[], float] = field(default=time.time)

    def answer(self, request: Request) -> Answer:
        """To a POST to one of the paths."""
        route: Callable[[Request], Answer] = getattr(self, PATHS[request.path])
        return route(request)

    def takes_token(self, path: str) -> bool:
        """Whether requests to the path are authenticated by a task token."""
        return PATHS[path] != "_event"

    def _report(self, request: Request) -> Answer:
        ticket = self._ticket(request)
        body = checked_json(request.body, stored=True)
        report = TaskReport.model_validate_json(body, strict=True)
        answer = self.client.dispatch.report(ticket, report)
        return Answer(HTTPStatus.OK, answer.to_json().encode())

    def _keep(self, request: Request) -> Answer:
        ticket = self._ticket(request)
        leases = self.client.dispatch.keep([ticket])
        if ticket.run_id not in leases:
            raise Fenced(run=ticket.run_id, reason="it has ended")
        return _json({"lease_seconds": leases[ticket.run_id]})

    def _event(self, request: Request) -> Answer:
        self._require_sender(request)
        launches = self.client.jobs.receive(checked_json(request.body))
        return _json({"launches": [launch.to_data() for launch in launches]})

    def _ticket(self, request: Request) -> RunTicket:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise BadToken()
        return self.ticket_of(token.strip())

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
        if self.asks_who or not self.place.is_loopback:
            raise Declined(HTTPStatus.FORBIDDEN, "events are accepted once inbox.secret is set")
        if not names_this_machine(request.headers.get("host", "")):
            raise Declined(HTTPStatus.FORBIDDEN, "the Host header is not a local name")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _JSON_TYPES:
            raise Declined(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send it as {' or '.join(_JSON_TYPES)}"
            )


def _json(data: object) -> Answer:
    return Answer(HTTPStatus.OK, canonical_json(data).encode())
