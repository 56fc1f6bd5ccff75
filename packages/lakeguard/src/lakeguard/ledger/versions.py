"""Versions, the published pointer, and the inputs of each version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, func, select

from lakeguard.ledger.notifications.emit_events import emit_pointer
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state import outbox
from lakeguard.state.schema import (
    data_versions,
    dataset_pointers,
    dataset_registry_revisions,
    decisions,
    materializations,
    run_openings,
    version_inputs,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.storage.storage import located
from lakeguard_sdk.types.schema import TableSchema


class Pointer(FrozenModel):
    """The published version of a dataset and its commit."""

    version: int
    commit: int
    ordinal: int
    moved_at: Instant


class StoredVersion(FrozenModel):
    """A stored version."""

    dataset_id: str
    version: int
    snapshot_ref: str
    schema_hash: str
    row_count: int
    promoted_at: Instant
    promoted_by: str
    version_id: str
    run_id: str
    decision_id: str
    table_rows: int
    table_id: str
    commit_version: int
    commit_sha256: str
    seq: int
    table_schema: TableSchema
    ruleset_hash: str
    policies_hash: str
    build_hash: str
    position_hash: str | None


def next_version(tx: Transaction, dataset_id: str) -> int:
    last = tx.scalar(
        select(func.max(data_versions.c.version)).where(data_versions.c.dataset_id == dataset_id)
    )
    return int(last or 0) + 1


def record_version(tx: Transaction, version: StoredVersion, inputs: Iterable[InputVersion]) -> None:
    """Record a version and its inputs."""
    row = {
        **version.model_dump(exclude={"table_schema"}),
        "org_id": tx.org_id,
        "table_schema": version.table_schema.to_json(),
    }
    outbox.record(tx, data_versions, [row], version.promoted_at)
    lineage = [
        {
            "dataset_id": version.dataset_id,
            "version": version.version,
            "input_dataset_id": item.dataset_id,
            "input_dataset_name": str(item.dataset),
            "input_version": item.version,
            "org_id": tx.org_id,
        }
        for item in inputs
    ]
    outbox.record(tx, version_inputs, lineage, version.promoted_at)


def record_materialization(
    tx: Transaction,
    version: StoredVersion,
    *,
    task_id: str,
    idempotency_key: str,
    bytes_written: int,
    notes: Mapping[str, Any],
) -> None:
    """Record a task's materialisation; the database refuses a second."""
    row = {
        "materialization_id": new_id("mat"),
        "org_id": tx.org_id,
        "dataset_id": version.dataset_id,
        "version": version.version,
        "task_id": task_id,
        "run_id": version.run_id,
        "idempotency_key": idempotency_key,
        "rows": version.row_count,
        "bytes": bytes_written,
        "created_at": version.promoted_at,
        "notes": canonical_json(notes) if notes else None,
    }
    outbox.record(tx, materializations, [row], version.promoted_at)


def notes_of(tx: Transaction, dataset_id: str) -> dict[int, dict[str, Any]]:
    """Build notes by version."""
    table = materializations.c
    rows = tx.execute(
        select(table.version, table.notes).where(
            table.dataset_id == dataset_id, table.notes.is_not(None)
        )
    )
    return {row.version: json.loads(row.notes) for row in rows}


def move_pointer(
    tx: Transaction,
    dataset_id: str,
    *,
    version: int,
    commit: int,
    kind: MoveKind,
    at: datetime,
    actor: str,
    reason: str,
    decision_id: str,
) -> None:
    """Move the pointer; earlier rows remain as history."""
    current = pointer(tx, dataset_id)
    row = {
        "dataset_id": dataset_id,
        "ordinal": 1 if current is None else current.ordinal + 1,
        "version": version,
        "commit_version": commit,
        "kind": kind.value,
        "moved_at": at,
        "actor": actor,
        "reason": reason,
        "decision_id": decision_id,
        "org_id": tx.org_id,
    }
    outbox.record(tx, dataset_pointers, [row], at)
    emit_pointer(tx, row)


def pointer(tx: Transaction, dataset_id: str, at: datetime | None = None) -> Pointer | None:
    """The published version now, or as it was at a moment."""
    table = dataset_pointers.c
    query = select(dataset_pointers).where(table.dataset_id == dataset_id)
    if at is not None:
        query = query.where(table.moved_at <= at)
    row = tx.execute(query.order_by(table.ordinal.desc()).limit(1)).first()
    if row is None:
        return None
    return Pointer(
        version=row.version, commit=row.commit_version, ordinal=row.ordinal, moved_at=row.moved_at
    )


def shown_at(tx: Transaction, dataset_id: str, version: int) -> int:
    """The last commit that showed the version: the same rows, perhaps in fewer files."""
    table = dataset_pointers.c
    found = tx.scalar(
        select(table.commit_version)
        .where(table.dataset_id == dataset_id, table.version == version)
        .order_by(table.ordinal.desc())
        .limit(1)
    )
    if found is None:
        raise UnknownVersion(dataset=dataset_id, version=version)
    return int(found)


class LatestPointer(NamedTuple):
    """What a dataset shows now, how it came to, and how many rows that is."""

    version: int
    moved_at: datetime
    kind: MoveKind
    table_rows: int


def latest_pointers(tx: Transaction) -> dict[str, LatestPointer]:
    """The published version of every dataset that has one, by the dataset's id.

    A compaction shows what was shown before, so that it is not what brought it about. As many
    looks into an index as there are datasets, however often they were published.
    """
    moves, later = dataset_pointers, dataset_pointers.alias("later")
    datasets, versions = dataset_registry_revisions.c, data_versions.c
    last = (
        select(later.c.ordinal)
        .where(later.c.dataset_id == datasets.dataset_id)
        .where(later.c.kind != MoveKind.COMPACTION.value)
        .order_by(later.c.ordinal.desc())
        .limit(1)
        .correlate(dataset_registry_revisions)
    )
    rows = tx.execute(
        select(
            moves.c.dataset_id,
            moves.c.version,
            moves.c.moved_at,
            moves.c.kind,
            versions.table_rows,
        )
        .select_from(dataset_registry_revisions)
        .join(
            moves,
            (moves.c.dataset_id == datasets.dataset_id)
            & (moves.c.ordinal == last.scalar_subquery()),
        )
        .join(
            data_versions,
            (versions.dataset_id == moves.c.dataset_id) & (versions.version == moves.c.version),
        )
        .where(datasets.org_id == tx.org_id, datasets.revision == 1)
    )
    return {
        row.dataset_id: LatestPointer(row.version, row.moved_at, MoveKind(row.kind), row.table_rows)
        for row in rows
    }


def evidence_of_versions(
    tx: Transaction, dataset_id: str, versions: Sequence[int]
) -> dict[int, tuple[str, datetime]]:
    """By version, the hash of the evidence that it was allowed on, and when that was decided."""
    version, decided = data_versions.c, decisions.c
    rows = tx.execute(
        select(version.version, decided.evidence_hash, decided.decided_at)
        .join(decisions, decided.decision_id == version.decision_id)
        .where(
            version.dataset_id == dataset_id,
            version.version.in_(versions),
            decided.evidence_hash.is_not(None),
        )
    )
    return {row.version: (row.evidence_hash, row.decided_at) for row in rows}


def last_pointer_rows(tx: Transaction, dataset_id: str, most: int) -> list[Row[Any]]:
    """The last moves of the pointer, oldest first."""
    table = dataset_pointers.c
    query = select(dataset_pointers).where(table.dataset_id == dataset_id)
    return list(tx.execute(query.order_by(table.ordinal.desc()).limit(most)))[::-1]


def pointer_rows(tx: Transaction, dataset_id: str) -> list[Row[Any]]:
    table = dataset_pointers.c
    query = select(dataset_pointers).where(table.dataset_id == dataset_id).order_by(table.ordinal)
    return list(tx.execute(query))


def last_versions(tx: Transaction, dataset_id: str) -> list[int]:
    """The last version of each revision of the definition that versions were built by."""
    version, opened = data_versions.c, run_openings.c
    query = (
        select(func.max(version.version))
        .join(run_openings, opened.run_id == version.run_id)
        .where(version.dataset_id == dataset_id)
        .group_by(opened.dataset_revision)
    )
    return sorted(tx.scalars(query))


def stored_version(tx: Transaction, dataset_id: str, version: int) -> StoredVersion | None:
    row = tx.execute(
        select(data_versions).where(
            data_versions.c.dataset_id == dataset_id, data_versions.c.version == version
        )
    ).first()
    return None if row is None else _stored(row)


def require_version(tx: Transaction, dataset_id: str, version: int) -> StoredVersion:
    """A version that a pointer or another version names."""
    found = stored_version(tx, dataset_id, version)
    if found is None:
        raise UnknownVersion(dataset=dataset_id, version=version)
    return found


def stored_versions(tx: Transaction, dataset_id: str) -> list[StoredVersion]:
    table = data_versions.c
    query = select(data_versions).where(table.dataset_id == dataset_id)
    return [_stored(row) for row in tx.execute(query.order_by(table.version.desc()))]


def inputs_of(tx: Transaction, dataset_id: str, version: int) -> tuple[InputVersion, ...]:
    table = version_inputs.c
    rows = tx.execute(
        select(version_inputs)
        .where(table.dataset_id == dataset_id, table.version == version)
        .order_by(table.input_dataset_name)
    )
    return tuple(
        InputVersion(
            dataset=row.input_dataset_name,
            dataset_id=row.input_dataset_id,
            version=row.input_version,
        )
        for row in rows
    )


def _stored(row: Row[Any]) -> StoredVersion:
    fields = dict(row._mapping)
    fields["table_schema"] = TableSchema.from_json(fields["table_schema"])
    return StoredVersion(**{key: fields[key] for key in StoredVersion.model_fields})


# An address made exact: which commit of which table shows a version.


def resolved_version(
    tx: Transaction, dataset: RegisteredDataset, stored: StoredVersion, lake: str
) -> ResolvedDataset:
    return ResolvedDataset(
        dataset=dataset.name,
        dataset_id=dataset.dataset_id,
        version=stored.version,
        location=located(lake, dataset.location),
        table_id=stored.table_id,
        commit=shown_at(tx, dataset.dataset_id, stored.version),
        table_schema=stored.table_schema,
    )
