"""The principal of a request, and checks before its body is read.

An ``Authenticator`` returns a principal, or raises ``NotAuthenticated`` (401) or ``NotPermitted``
(403).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lakeguard.access.authorise import may
from lakeguard.access.permission import may_run_call
from lakeguard.access.principal import Action, Principal, PrincipalKind, TaskGrants
from lakeguard.access.users import local_user
from lakeguard_sdk.api.operation import Operation
from lakeguard_sdk.errors import NotAuthenticated, NotPermitted
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.task_token import PREFIX


class Authenticator(Protocol):
    """Finds the principal of a request by its headers (in lower case) and the client's address."""

    @property
    def is_local(self) -> bool:
        """Whether no token is required, so that only this machine may reach the service."""

    @property
    def blocks(self) -> bool:
        """Whether it may wait for a database or another service."""

    def __call__(self, headers: Mapping[str, str], client: str) -> Principal: ...


@dataclass(frozen=True)
class LocalAuthenticator:
    """The local user without a token, and tasks with theirs."""

    org_id: str
    ticket_of: Callable[[str], RunTicket]
    """The ticket in a task token; raises ``BadToken``."""
    is_local: bool = True
    blocks: bool = False

    def __call__(self, headers: Mapping[str, str], client: str) -> Principal:
        token = bearer_token(headers)
        if token.startswith(PREFIX):
            ticket = self.ticket_of(token)
            name, grants = f"run {ticket.run_id}", TaskGrants(ticket)
            return Principal(self.org_id, PrincipalKind.TASK, ticket.task_id, name, task=grants)
        if token:
            raise NotAuthenticated(reason="this service accepts task tokens only")
        user = local_user()
        return Principal(self.org_id, PrincipalKind.LOCAL, user, user)


@dataclass(frozen=True)
class TokenAuthenticator:
    """Users, service tokens and tasks; a token is required."""

    authenticate: Callable[[str], Principal]
    """The principal of an Authorization header; raises ``BadToken``."""
    is_local: bool = False
    blocks: bool = True

    def __call__(self, headers: Mapping[str, str], client: str) -> Principal:
        header = headers.get("authorization", "")
        if not header.strip():
            raise NotAuthenticated(reason="no token was sent")
        return self.authenticate(header)


def bearer_token(headers: Mapping[str, str]) -> str:
    """Empty if there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def require_all_figures(principal: Principal) -> None:
    """Metrics name every dataset, so they require the right to read all of them."""
    if principal.kind is PrincipalKind.LOCAL:
        return
    verdict = may(principal, Action.READ)
    if not verdict.allowed:
        raise NotPermitted(holder=principal.label, method=f"metrics: {verdict.reason}")


def require_permission(principal: Principal, operation: Operation) -> None:
    """Checked before a body is read. Tickets of tasks are checked by the ports."""
    if principal.kind is not PrincipalKind.TASK:
        return
    if operation.port == "reader" or (operation.port == "runs" and may_run_call(operation.method)):
        return
    raise NotPermitted(holder=principal.name, method=operation.name)
