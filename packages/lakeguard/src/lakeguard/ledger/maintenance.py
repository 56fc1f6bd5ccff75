"""Files removed by maintenance, recorded before the first is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from lakeguard.state import outbox
from lakeguard.state.schema import maintenance_log
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id

if TYPE_CHECKING:
    from lakeguard_sdk.model.table_operations import Removal


def record_removal(tx: Transaction, dataset_id: str, removal: Removal) -> None:
    at = tx.now()
    row = {
        "maintenance_id": new_id("mnt"),
        "org_id": tx.org_id,
        "dataset_id": dataset_id,
        "at": at,
        "kind": removal.kind.value,
        "files": len(removal.paths),
        "bytes": removal.bytes,
        "actor": tx.actor,
        "details": removal.to_json(),
    }
    outbox.record(tx, maintenance_log, [row], at)


def removals_of(tx: Transaction, dataset_id: str) -> list[Removal]:
    """Ordered by creation."""
    table = maintenance_log.c
    found = tx.scalars(
        select(table.details).where(table.dataset_id == dataset_id).order_by(table.maintenance_id)
    )
    from lakeguard_sdk.model.table_operations import Removal

    return [Removal.from_json(details) for details in found]


def removed_paths(tx: Transaction, dataset_id: str) -> frozenset[str]:
    made = removals_of(tx, dataset_id)
    return frozenset(path for removal in made for path in removal.paths)


def removed_versions(tx: Transaction, dataset_id: str) -> frozenset[int]:
    """Versions whose files were removed, so that they cannot be restored."""
    return frozenset(
        version for removal in removals_of(tx, dataset_id) for version in removal.versions
    )
