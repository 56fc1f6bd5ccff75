"""Partition versions: which version last added or replaced each partition.

The partitions of a version are derived along its base versions, so a rollback needs no update.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Row, select

from lakeguard.ledger.versions import StoredVersion
from lakeguard.state import outbox
from lakeguard.state.schema import data_versions, partition_versions, run_openings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class PartitionState(FrozenModel):
    """A partition after a commit; without files it has no rows."""

    partition: str
    location: str
    rows: int
    bytes: int


class StoredPartition(PartitionState):
    """The version that added or replaced a partition, and its settings."""

    version: int
    run_id: str
    materialized_at: Instant
    config_hash: str
    schema_hash: str


def record_partitions(
    tx: Transaction, version: StoredVersion, config_hash: str, states: Collection[PartitionState]
) -> None:
    """Record every partition that the version added or replaced."""
    rows = [
        {
            "dataset_id": version.dataset_id,
            "partition_key": state.partition,
            "version": version.version,
            "org_id": tx.org_id,
            "run_id": version.run_id,
            "materialized_at": version.promoted_at,
            "config_hash": config_hash,
            "schema_hash": version.schema_hash,
            "location": state.location,
            "rows": state.rows,
            "bytes": state.bytes,
        }
        for state in states
    ]
    outbox.record(tx, partition_versions, rows, version.promoted_at)


def config_of_run(tx: Transaction, run_id: str) -> str | None:
    """The hash of a run's settings."""
    opened = run_openings.c
    return tx.scalar(
        select(opened.bundle_hash).where(opened.org_id == tx.org_id, opened.run_id == run_id)
    )


def descent_of(tx: Transaction, dataset_id: str, version: int | None) -> Iterator[int]:
    """The version and its base versions."""
    bases = _bases(tx, dataset_id)
    while version is not None and version in bases:
        yield version
        version = bases[version]


def knows_partitions(tx: Transaction, dataset_id: str, version: int) -> bool:
    """Whether all partitions of the version are recorded: tables are recorded as a whole."""
    table = partition_versions.c
    own = select(table.version).where(table.dataset_id == dataset_id)
    first = tx.scalar(own.order_by(table.version).limit(1))
    base: int | None = version
    while first is not None and base is not None and base >= first:
        if tx.scalar(own.where(table.version == base).limit(1)) is not None:
            return True
        base = _base_of(tx, dataset_id, base)
    return False


def partitions_at(tx: Transaction, dataset_id: str, version: int) -> dict[str, StoredPartition]:
    """Non-empty partitions of the version."""
    table = partition_versions.c
    order = {one: place for place, one in enumerate(descent_of(tx, dataset_id, version))}
    found = tx.execute(select(partition_versions).where(table.dataset_id == dataset_id))
    rows = [row for row in found if row.version in order]
    newest: dict[str, StoredPartition] = {}
    for row in sorted(rows, key=lambda row: order[row.version]):
        newest.setdefault(row.partition_key, _stored(row))
    return {key: newest[key] for key in sorted(newest) if newest[key].rows}


def _base_of(tx: Transaction, dataset_id: str, version: int) -> int | None:
    versions = data_versions.c
    return tx.scalar(
        select(run_openings.c.base_version)
        .join(data_versions, versions.run_id == run_openings.c.run_id)
        .where(versions.dataset_id == dataset_id, versions.version == version)
    )


def _bases(tx: Transaction, dataset_id: str) -> dict[int, int | None]:
    versions = data_versions.c
    rows = tx.execute(
        select(versions.version, run_openings.c.base_version)
        .join(run_openings, run_openings.c.run_id == versions.run_id, isouter=True)
        .where(versions.dataset_id == dataset_id)
    )
    return {row.version: row.base_version for row in rows}


def _stored(row: Row[Any]) -> StoredPartition:
    fields = {**row._mapping, "partition": row.partition_key}
    return StoredPartition(**{name: fields[name] for name in StoredPartition.model_fields})
