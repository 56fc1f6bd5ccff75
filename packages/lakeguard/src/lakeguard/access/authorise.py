"""Decides whether a principal may perform an action. Pure: no clock, no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lakeguard.access.principal import (
    ORGANISATION,
    Action,
    Grant,
    Namespace,
    Principal,
    PrincipalKind,
    Role,
    Subject,
)

_VIEWER = frozenset({Action.READ})
_ENGINEER = _VIEWER | {
    Action.DEFINE,
    Action.RUN,
    Action.DEPLOY,
    Action.WORK,
    Action.EMIT,
}
_STEWARD = _ENGINEER | {Action.CURATE}

ACTIONS: dict[Role, frozenset[Action]] = {
    Role.VIEWER: _VIEWER,
    Role.ENGINEER: _ENGINEER,
    Role.STEWARD: _STEWARD,
    Role.ADMIN: _STEWARD | {Action.ADMINISTER},
    Role.PII: frozenset(),
}
"""What each role allows."""

GRANTABLE = frozenset(Action) - {Action.ADMINISTER}
"""Actions that a service token may have: programs manage neither users nor tokens."""


@dataclass(frozen=True)
class Verdict:
    """Allowed if there is no reason against it."""

    reason: str = ""

    @property
    def allowed(self) -> bool:
        return not self.reason


ALLOWED = Verdict()


def grant_of(role: Role, on: Namespace) -> Grant:
    return Grant(ACTIONS[role], on, pii=role is Role.PII)


def may(principal: Principal, action: Action, subject: Subject = ORGANISATION) -> Verdict:
    """More grants never allow less; an action on the organisation needs a grant on all of it."""
    if any(action in grant.actions and grant.on.covers(subject) for grant in principal.grants):
        return ALLOWED
    where = f"on {_named(subject)}"
    if any(action in grant.actions for grant in principal.grants):
        return Verdict(f"it may {action} elsewhere, but not {where}")
    if principal.kind is PrincipalKind.USER:
        wanted = next((role for role in Role if action in ACTIONS[role]), None)
        return Verdict(f"it needs the role {wanted} {where}" if wanted else "no role allows it")
    return Verdict(f"its scope does not include {action} {where}")


def _named(subject: Subject) -> str:
    if subject.record_kind:
        return f"records of {subject.record_kind} in namespace {subject.record_namespace}"
    return str(subject.dataset or "the organisation")


def may_anywhere(principal: Principal, action: Action) -> bool:
    """Whether the principal may perform the action on some subject."""
    return any(action in grant.actions for grant in principal.grants)


def actions_of(principal: Principal) -> tuple[Action, ...] | None:
    """Actions that its grants allow on some subject; None if no grants limit it."""
    if principal.kind in (PrincipalKind.LOCAL, PrincipalKind.TASK):
        return None
    return tuple(action for action in Action if may_anywhere(principal, action))


def may_see_personal(principal: Principal, subject: Subject) -> bool:
    """Whether the principal may see values of personal columns of the dataset."""
    seen = any(grant.pii and grant.on.covers(subject) for grant in principal.grants)
    return seen and may(principal, Action.READ, subject).allowed


def is_over(principal: Principal, at: datetime) -> bool:
    """Whether the credential of the principal has expired."""
    return principal.until is not None and at >= principal.until
