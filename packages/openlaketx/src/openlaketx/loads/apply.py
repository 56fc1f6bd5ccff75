"""Applies a staged batch to its table, by load type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage
from openlaketx.engine.spark.session import Sessions
from openlaketx.loads.keyed_load import load_by_key
from openlaketx.loads.load_result import Loaded, SplitRows, carries_time, no_quarantine
from openlaketx.loads.schema_growth import has_grown, with_new_columns
from openlaketx.loads.staged_batch import StagedBatch, merges
from openlaketx.loads.table_state import Existing, existing_table
from openlaketx.loads.window_load import load_window
from openlaketx.stage import Candidate


def apply_load(
    staged: StagedBatch,
    sessions: Sessions,
    plan: RunPlan,
    storage: Storage,
    split_rows: SplitRows = no_quarantine,
    base: Callable[[], Existing] | None = None,
) -> Loaded:
    """The files that add the batch to the table, by load type. Nothing is visible yet.

    Rows of keyed loads and replayed quarantine rows are split by the quarantine rules first. A
    session is taken only if rows of the table must be read. ``base`` returns the table at
    the run's base, if reading it has already begun.
    """
    existing = existing_table(plan) if base is None else base()
    if merges(plan):
        loaded = load_by_key(staged, sessions(), plan, existing, storage, split_rows)
    else:
        loaded = _load_plain(staged, sessions, plan, existing, storage, split_rows)
    if _keeps_files(plan) and has_grown(plan, existing):
        loaded = with_new_columns(loaded, sessions, plan, existing, storage)
    return replace(loaded, lacking=_lacking(loaded, existing))


def _lacking(loaded: Loaded, existing: Existing) -> dict[str, dict[str, str | None]]:
    """Files of the resulting table whose partition columns may be in the log only."""
    if not existing.is_partitioned and not any(f.partition for f in loaded.candidate.files):
        return {}
    stays = {file.path: existing.partitions[file.path] for file in loaded.stays}
    added = {file.path: file.partition for file in loaded.candidate.files}
    return {
        path: values
        for path, values in {**stays, **added}.items()
        if values and not written_whole(path)
    }


def _keeps_files(plan: RunPlan) -> bool:
    return plan.load.type is not LoadType.FULL or plan.window is not None


def _load_plain(
    batch: StagedBatch,
    sessions: Sessions,
    plan: RunPlan,
    existing: Existing,
    storage: Storage,
    split_rows: SplitRows,
) -> Loaded:
    read = staged = batch.files
    if carries_time(plan):
        staged = split_rows(staged, batch.schema, existing).passed
    elif plan.load.type is LoadType.PARTITION and plan.window is None:
        staged = _split_partitions(staged, plan, existing, split_rows)
    if plan.window is not None:
        return load_window(staged, sessions(), plan, existing, storage)
    return replace(load_plain(staged, plan, existing, batch.late), read=read)


def _split_partitions(
    staged: Candidate, plan: RunPlan, existing: Existing, split_rows: SplitRows
) -> Candidate:
    """The rows that pass, measured together with the retained partitions. A partition without a
    passing row is retained, so the other rows are checked against its rows too."""
    while True:
        gone = _replaced(staged, plan, existing)
        passed = split_rows(staged, plan.table_schema, existing.beside(gone)).passed
        if _replaced(passed, plan, existing) == gone:
            return passed
        staged = passed


# Loads that add staged files without rewriting any: FULL, APPEND, PARTITION.


def load_plain(staged: Candidate, plan: RunPlan, existing: Existing, late: int) -> Loaded:
    """The staged files, replacing all, some or none of the table's files."""
    match plan.load.type:
        case LoadType.FULL:
            removes, changes = set(existing.files), None
        case LoadType.PARTITION:
            removes = _replaced(staged, plan, existing)
            gone = sum(existing.files[path].rows or 0 for path in removes)
            changes = Changes(inserted=staged.rows, deleted=gone, late=late)
        case _:
            removes = set()
            timed = plan.watermark is not None
            changes = Changes(inserted=staged.rows, late=late) if timed else None
    return Loaded(
        candidate=staged,
        arrived=staged,
        read=staged,
        batch=staged.rows + late,
        removes=tuple(sorted(removes)),
        stays=existing.without(removes),
        changes=changes,
    )


def _replaced(staged: Candidate, plan: RunPlan, existing: Existing) -> set[str]:
    """Files of the partitions that occur in the batch."""
    if not plan.partition_by:
        raise LoadFailed(
            dataset=plan.dataset, reason="a PARTITION load requires a partitioned table"
        )
    brought = {frozenset(file.partition.items()) for file in staged.files}
    return {
        path for path, values in existing.partitions.items() if frozenset(values.items()) in brought
    }
