"""What maintenance removed: a fact before the first file goes, so that no file is ever missed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from lakeguard.state import outbox
from lakeguard.state.schema import maintenance_log
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.table_operations import Removal


def record_removal(
    connection: Connection, org_id: str, dataset_id: str, removal: Removal, at: datetime, actor: str
) -> None:
    row = {
        "maintenance_id": new_id("mnt"),
        "org_id": org_id,
        "dataset_id": dataset_id,
        "at": at,
        "kind": removal.kind.value,
        "files": len(removal.paths),
        "bytes": removal.bytes,
        "actor": actor,
        "details": removal.to_json(),
    }
    outbox.record(connection, maintenance_log, [row], at)


def removals_of(connection: Connection, dataset_id: str) -> list[Removal]:
    """In the order in which they were made."""
    table = maintenance_log.c
    found = connection.scalars(
        select(table.details).where(table.dataset_id == dataset_id).order_by(table.maintenance_id)
    )
    return [Removal.from_json(details) for details in found]


def removed_paths(connection: Connection, dataset_id: str) -> frozenset[str]:
    made = removals_of(connection, dataset_id)
    return frozenset(path for removal in made for path in removal.paths)


def removed_versions(connection: Connection, dataset_id: str) -> frozenset[int]:
    """Versions that cannot be shown again: files of theirs are gone."""
    return frozenset(
        version for removal in removals_of(connection, dataset_id) for version in removal.versions
    )
