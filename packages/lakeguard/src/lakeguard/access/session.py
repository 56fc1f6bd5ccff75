"""Current grants of a principal, read again at intervals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic

from lakeguard.access.authorise import is_over, may
from lakeguard.access.grants import is_active, standing_of
from lakeguard.access.principal import Action, Principal, PrincipalKind, TaskGrants
from lakeguard.access.service_tokens import token_principal
from lakeguard.access.subjects import Subjects
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import BadToken

_SECRET = "key_"  # noqa: S105 - prefix of ids of secrets
FRESH_SECONDS = 20.0
"""How long grants are cached; a revocation takes effect within this time."""


def renewed(tx: Transaction, principal: Principal) -> Principal:
    """The principal with its current grants; raises ``BadToken`` if its credential is revoked."""
    match principal.kind:
        case PrincipalKind.TASK | PrincipalKind.LOCAL:
            return principal  # for a task, its lease and its holder are checked on each request
        case PrincipalKind.TOKEN:
            return token_principal(tx, principal.secret_id)
        case PrincipalKind.USER:
            standing = standing_of(tx, principal.id)
            if not standing.active:
                raise BadToken()
            return replace(principal, grants=(*standing.grants, *principal.claimed))


def require_admitted(state: OrganisationState, task: TaskGrants) -> None:
    """Raise ``BadToken`` for a task of a disabled organisation, or of a worker that may no longer
    work on it."""
    with state.read() as tx:
        if not is_active(tx, tx.org_id):
            raise BadToken()
    require_holder(state, task)


def require_holder(state: OrganisationState, task: TaskGrants) -> None:
    """Raise ``BadToken`` once the holder of the task's token may no longer work on the task, or is
    revoked."""
    if not task.holder:
        return
    kind = PrincipalKind.TOKEN if task.holder.startswith(_SECRET) else PrincipalKind.USER
    held = Principal(state.org_id, kind, task.holder, "", secret_id=task.holder)
    subject = Subjects(state).of_task(task.ticket.task_id)
    with state.read() as tx:
        holder = renewed(tx, held)
    if subject is None or not may(holder, Action.WORK, subject).allowed:
        raise BadToken()


@dataclass
class Session:
    """Thread-safe; shared by the ports of one client."""

    state: OrganisationState
    principal: Principal
    clock: Callable[[], float] = monotonic
    _read_at: float = field(init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._read_at = self.clock()

    def current(self) -> Principal:
        """Raises ``BadToken`` once the credential is revoked or has expired."""
        with self._turn:
            now = self.clock()
            if now - self._read_at >= FRESH_SECONDS:
                with self.state.read() as tx:
                    self.principal = renewed(tx, self.principal)
                self._read_at = now
            principal = self.principal
        if is_over(principal, self.state.clock()):
            raise BadToken()
        return principal
