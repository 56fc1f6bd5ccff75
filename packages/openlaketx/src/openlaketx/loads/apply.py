"""Applies a load: conformed rows become a candidate relative to the run's base."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.load import KEYED_LOADS
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage
from openlaketx.conform.hashes import with_hashes
from openlaketx.conform.latest_rows import latest, refuse_null_keys
from openlaketx.conform.selected_rows import chosen_rows, in_window, late_rows
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract import Batch
from openlaketx.extract.files.file_order import with_places
from openlaketx.loads.incoming_batch import files_in_turn
from openlaketx.loads.keyed_load import load_by_key
from openlaketx.loads.load_result import (
    Loaded,
    SplitRows,
    carries_time,
    no_quarantine,
    time_last,
    with_time,
)
from openlaketx.loads.schema_growth import has_grown, with_new_columns
from openlaketx.loads.spark_failures import explaining
from openlaketx.loads.table_state import Existing, existing_table, read_existing
from openlaketx.loads.window_load import load_window
from openlaketx.stage import Candidate, stage


def apply_load(
    frame: DataFrame,
    batch: Batch,
    plan: RunPlan,
    storage: Storage,
    split_rows: SplitRows = no_quarantine,
) -> Loaded:
    """The files that add the batch to the table, by load type. Nothing is visible yet.

    Rows of keyed loads and replayed quarantine rows are split by the quarantine rules first.
    """
    existing = existing_table(plan)
    with explaining(plan):
        late = late_rows(frame, plan)
    frame = time_last(with_hashes(chosen_rows(frame, plan), plan), plan)
    if merges(plan):
        loaded = load_by_key(frame, batch, plan, existing, storage, late, split_rows)
    else:
        loaded = _load_plain(frame, batch, plan, existing, storage, late, split_rows)
    if _keeps_files(plan) and has_grown(plan, existing):
        loaded = with_new_columns(loaded, frame.sparkSession, plan, existing, storage)
    return replace(loaded, lacking=_lacking(loaded, existing))


def _lacking(loaded: Loaded, existing: Existing) -> dict[str, dict[str, str | None]]:
    """Files of the resulting table whose partition columns may be in the log only."""
    stays = {file.path: existing.partitions[file.path] for file in loaded.stays}
    added = {file.path: file.partition for file in loaded.candidate.files}
    return {
        path: values
        for path, values in {**stays, **added}.items()
        if values and not written_whole(path)
    }


def _keeps_files(plan: RunPlan) -> bool:
    return plan.load.type is not LoadType.FULL or plan.window is not None


def merges(plan: RunPlan) -> bool:
    """Whether the load matches rows of the batch and the table by key."""
    if plan.load.type in KEYED_LOADS:
        return True
    return plan.load.type is LoadType.APPEND and bool(plan.load.keys) and plan.window is None


def _without_keys_outside(frame: DataFrame, plan: RunPlan, existing: Existing) -> DataFrame:
    """Rows of a backfill whose key does not exist outside the window."""
    rows = read_existing(frame.sparkSession, plan, existing, existing.files)
    outside = rows.filter(~in_window(plan)).select(*(quoted_name(n) for n in plan.load.keys))
    return frame.join(outside, list(plan.load.keys), "left_anti").select(
        *(quoted_name(name) for name in frame.columns)
    )


def _load_plain(
    frame: DataFrame,
    batch: Batch,
    plan: RunPlan,
    existing: Existing,
    storage: Storage,
    late: int,
    split_rows: SplitRows,
) -> Loaded:
    inserts_by_key = plan.load.type is LoadType.APPEND and bool(plan.load.keys)
    if batch.order:
        frame = with_places(frame, files_in_turn(batch, plan))
    if inserts_by_key or (plan.load.keys and plan.load.order_by):
        frame = refuse_null_keys(frame, plan.load.keys)
        frame = latest(frame, plan.table_schema, plan.load.keys, plan.load.order_by)
    if inserts_by_key:
        frame = _without_keys_outside(frame, plan, existing)
    schema = with_time(plan.table_schema, plan)
    read = staged = stage(frame, batch, plan, storage, schema=schema)
    if carries_time(plan):
        staged = split_rows(staged, schema, existing).passed
    elif plan.load.type is LoadType.PARTITION and plan.window is None:
        staged = _split_partitions(staged, plan, existing, split_rows)
    if plan.window is not None:
        return load_window(staged, frame.sparkSession, plan, existing, storage)
    return replace(load_plain(staged, plan, existing, late), read=read)


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
