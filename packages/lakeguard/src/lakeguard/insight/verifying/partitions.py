"""HISTORY: the partitions that a published version shows have the rows of the version."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select

from lakeguard.ledger.partitions import partitions_at
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.database import Database
from lakeguard.state.tables import partition_versions
from lakeguard_sdk.proof import Finding, FindingKind


def partition_findings(database: Database, org_id: str) -> Iterator[Finding]:
    """Only datasets with partitions are asked; a version may have been published before it had
    any."""
    table = partition_versions.c
    with database.read() as connection:
        recorded = set(
            connection.scalars(select(table.dataset_id).where(table.org_id == org_id).distinct())
        )
    for dataset_id in sorted(recorded):
        with database.read() as connection:
            shown = pointer(connection, dataset_id)
            if shown is None:
                continue
            last = require_version(connection, dataset_id, shown.version)
            found = partitions_at(connection, dataset_id, last.version)
            name = dataset_by_id(connection, org_id, dataset_id).name
        rows = sum(stored.rows for stored in found.values())
        if found and rows != last.table_rows:
            said = f"expected {last.table_rows:,} rows, found {rows:,} in its partitions"
            place = f"{name}@v{last.version}"
            yield Finding(kind=FindingKind.HISTORY, place=place, message=said)
