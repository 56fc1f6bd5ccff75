"""Task tokens: the rights of an attempt, signed by the control plane.

A token is a JSON Web Token signed with Ed25519. It names organisation, task, attempt, run and
lease, the datasets that the task may read with their pinned versions, where it may write, and who
requested it. Calls with it are refused once the lease is over, even if the token is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from jwt.exceptions import PyJWTError

from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import (
    Action,
    Grant,
    Namespace,
    NamespaceKind,
    Principal,
    PrincipalKind,
    TaskGrants,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BadToken
from lakeguard_sdk.model.run import RunPlan, RunTicket, SourceBuild
from lakeguard_sdk.scheduling.task_token import LIFETIME, LONGEST, PREFIX
from lakeguard_sdk.storage.run_folders import LANDING, quarantine_folder
from lakeguard_sdk.storage.storage import join

AFTER_TIMEOUT = timedelta(days=7)
"""How long a token of an attempt in another system outlives the job's timeout: reports may be
late, and may be repeated."""
LONGEST_HEADER = 6_000
"""Characters; many proxies refuse lines of more than 8 KiB."""
_EARLY = datetime(1970, 1, 1, tzinfo=UTC)
_ALGORITHM = "EdDSA"
_ISSUER = "lakeguard"
_AUDIENCE = "lakeguard:task"
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""Pydantic's errors are among them."""
_REQUIRED = ["exp", "iat", "iss", "aud", "sub", "jti"]
_CLAIMS = ("org", "run", "attempt", "lease", "datasets", "prefixes", "by")


@dataclass(frozen=True)
class TaskTokens:
    """Issues and reads the task tokens of one organisation."""

    keys: IdentityKeys
    org_id: str

    def issue(self, grants: TaskGrants, now: datetime, lifetime: timedelta = LIFETIME) -> str:
        ticket = grants.ticket
        claims = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": ticket.task_id,
            "jti": new_id("key"),
            "iat": int(now.timestamp()),
            "exp": int((now + lifetime).timestamp()),
            "org": self.org_id,
            "run": ticket.run_id,
            "attempt": ticket.attempt,
            "lease": ticket.lease_token,
            "datasets": dict(grants.pins),
            "prefixes": list(grants.prefixes),
            "by": grants.holder,
        }
        return PREFIX + jwt.encode(claims, self.keys.signing_key(), _ALGORITHM)

    def issue_to_worker(self, grants: TaskGrants, now: datetime) -> str:
        """Sent as a header, whose length proxies limit: if it would be longer, it names only the
        dataset of the run, and allows reading only that one."""
        text = self.issue(grants, now)
        if len(text) <= LONGEST_HEADER:
            return text
        own = tuple(pin for pin in grants.pins if not pin[1])
        return self.issue(replace(grants, pins=own), now)

    def issue_for_timeout(self, ticket: RunTicket, now: datetime, seconds: int) -> str:
        """For an attempt in another system, which cannot renew it."""
        lifetime = timedelta(seconds=seconds) + AFTER_TIMEOUT
        return self.issue(TaskGrants(ticket), now, lifetime)

    def read(self, text: str, now: datetime, *, may_be_over: bool = False) -> Principal:
        """Raises ``BadToken``. ``may_be_over`` accepts expired tokens, for reports: only the lease
        decides on these."""
        if not text.startswith(PREFIX) or len(text) > LONGEST:
            raise BadToken()
        try:
            claims = jwt.decode(
                text.removeprefix(PREFIX),
                self.keys.signing_key().public_key(),
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                issuer=_ISSUER,
                options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False},
            )
            grants = _grants(claims)
            until = datetime.fromtimestamp(claims["exp"], UTC)
        except (PyJWTError, *_MALFORMED):
            raise BadToken() from None
        over = until <= now and not may_be_over
        if over or claims["org"] != self.org_id or claims["sub"] != grants.ticket.task_id:
            raise BadToken()
        return _principal(self.org_id, grants, until)

    def task_of(self, text: str) -> TaskGrants:
        """The task of a report, of which only the lease decides whether it is accepted."""
        task = self.read(text, _EARLY, may_be_over=True).task
        if task is None:
            raise BadToken()
        return task


def grants_of(plan: RunPlan, lake: str) -> TaskGrants:
    """The rights of an open run: its dataset, its inputs at pinned versions, and its folders for
    staging, quarantine and landed files."""
    inputs = [pin.input for pin in (*plan.pins, *plan.references)]
    pins = {**{str(each.dataset): each.version for each in inputs}, str(plan.dataset): 0}
    return TaskGrants(plan.ticket, tuple(sorted(pins.items())), tuple(_prefixes(plan, lake)))


def _prefixes(plan: RunPlan, lake: str) -> Iterator[str]:
    if not plan.staging:  # an adoption writes nothing
        return
    yield join(plan.location, plan.staging)
    yield quarantine_folder(lake, plan.dataset)
    if isinstance(plan.build, SourceBuild) and plan.build.landing:
        yield join(lake, LANDING, plan.build.source)


def _grants(claims: dict[str, Any]) -> TaskGrants:
    if any(name not in claims for name in _CLAIMS):
        raise ValueError("a claim is missing")
    ticket = RunTicket.model_validate(
        {
            "run_id": claims["run"],
            "task_id": claims["sub"],
            "attempt": claims["attempt"],
            "lease_token": claims["lease"],
        },
        strict=True,
    )
    pins = tuple(sorted((str(name), int(at)) for name, at in claims["datasets"].items()))
    prefixes = tuple(map(str, claims["prefixes"]))
    return TaskGrants(ticket, pins, prefixes, str(claims["by"]))


def _principal(org_id: str, task: TaskGrants, until: datetime) -> Principal:
    reads = frozenset({Action.READ})
    names = [Namespace(NamespaceKind.DATASET, name) for name, _ in task.pins]
    return Principal(
        org_id=org_id,
        kind=PrincipalKind.TASK,
        id=task.ticket.task_id,
        name=f"task:{task.ticket.task_id}",
        grants=tuple(Grant(reads, each) for each in names),
        until=until,
        task=task,
    )
