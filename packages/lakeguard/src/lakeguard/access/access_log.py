"""The access log: refused calls, calls that change something, and reads of personal values."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.access.principal import Principal
from lakeguard.state import outbox
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import access_log
from lakeguard_sdk.core.ids import new_id

PERSONAL = "read_personal"
"""The action of a row that records to whom personal values were shown."""


@dataclass(frozen=True)
class Access:
    """One call, before it is made."""

    method: str
    action: str
    datasets: tuple[str, ...] = ()
    """Several for a plan; none if the call is about the organisation."""


def record_access(
    state: OrganisationState, principal: Principal, access: Access, refused: str = ""
) -> None:
    """Records one row for each dataset."""
    with state.write() as tx:
        at = tx.now()
        rows = [
            {
                "access_id": new_id("acc"),
                "org_id": tx.org_id,
                "accessed_at": at,
                "principal_kind": principal.kind.value,
                "principal_id": principal.id,
                "principal": principal.name,
                "action": access.action,
                "method": access.method,
                "dataset": dataset,
                "allowed": not refused,
                "reason": refused or None,
            }
            for dataset in access.datasets or (None,)
        ]
        outbox.record(tx, access_log, rows, at)
