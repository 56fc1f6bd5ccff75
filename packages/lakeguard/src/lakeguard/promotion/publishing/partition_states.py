"""Partitions that a move touches, and their state afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from lakeguard.lake.port import LiveFile
from lakeguard.ledger.intents import adopted_files
from lakeguard.ledger.partitions import (
    PartitionState,
    config_of_run,
    knows_partitions,
    record_partitions,
)
from lakeguard.ledger.versions import StoredVersion
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.records.open_runs import OpenRun
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.model.delta_log import Commit, renamed_files
from lakeguard_sdk.model.partitions import LONGEST_KEY, partition_key
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage.storage import join


@dataclass(frozen=True)
class Partitions:
    """All partitions after a move, and the move's effect."""

    files: dict[str, tuple[LiveFile, ...]]
    touched: frozenset[str] = frozenset()
    """Added, replaced, appended to or removed."""
    replaced: frozenset[str] = frozenset()
    """Those that lost a file."""


def partitions_after(context: PlaneContext, intent: Intent, commit: Commit) -> Partitions | None:
    """Partitions from the log; None if unpartitioned, or no version is created.

    A file re-added under another name counts as unchanged.
    """
    if intent.kind not in (MoveKind.PUBLISH, MoveKind.ADOPTION) or not intent.partition_by:
        return None
    columns = intent.partition_by
    renamed = renamed_files(commit)
    removed = set(commit.removes) - renamed.keys()
    unchanged = set(renamed.values())
    added = {partition_key(f.partition, columns) for f in commit.added if f.path not in unchanged}
    before = context.tables.live_at(intent.location, intent.base_commit) if removed else ()
    lost = {partition_key(f.partition, columns) for f in before if f.path in removed}
    files: dict[str, list[LiveFile]] = {}
    for file in context.tables.live_at(intent.location, commit.version):
        files.setdefault(partition_key(file.partition, columns), []).append(file)
    return Partitions(
        {key: tuple(found) for key, found in files.items()},
        frozenset(added | lost),
        frozenset(lost),
    )


def record_partition_states(
    tx: Transaction,
    run: OpenRun,
    version: StoredVersion,
    found: Partitions | None,
    adds: frozenset[str],
) -> None:
    """Touched partitions; all, if the base has none recorded."""
    if found is None:
        return
    base = run.plan.base.version if run.plan.base else None
    known = base is not None and knows_partitions(tx, version.dataset_id, base)
    wanted = found.touched if known else found.touched | found.files.keys()
    rows = _known_rows(tx, run, found)
    states = [
        _state(key, run.dataset.location, found.files.get(key, ()), adds, rows)
        for key in sorted(wanted)
    ]
    config = config_of_run(tx, version.run_id) or run.plan.definition_hash
    record_partitions(tx, version, config, states)


def _known_rows(tx: Transaction, run: OpenRun, found: Partitions) -> dict[str, int]:
    """Row counts missing from the log, as only in adopted tables."""
    unknown = any(file.rows < 0 for files in found.files.values() for file in files)
    if not unknown:
        return {}
    files = adopted_files(tx, run.dataset.dataset_id)
    return {file.path: file.rows for file in files}


def _state(
    key: str, table: str, files: tuple[LiveFile, ...], adds: frozenset[str], rows: dict[str, int]
) -> PartitionState:
    return PartitionState(
        partition=key,
        location=next(_folders(table, files, adds), table),
        rows=sum(file.rows if file.rows >= 0 else rows.get(file.path, 0) for file in files),
        bytes=sum(file.size for file in files),
    )


def _folders(table: str, files: tuple[LiveFile, ...], adds: frozenset[str]) -> Iterator[str]:
    """The folder of its newest files if it fits the ledger, else the table's location."""
    for file in sorted(files, key=lambda file: (file.path not in adds, file.path)):
        folder = join(table, str(PurePosixPath(file.path).parent)).removesuffix("/.")
        if len(folder) <= LONGEST_KEY:
            yield folder
