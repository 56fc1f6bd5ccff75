"""Keyed loads: find the changes, write them once, and rewrite the touched files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import Deletes, LoadType
from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.load import IS_DELETED, VALID_FROM
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract.files.file_order import PLACE
from openlaketx.loads.copy_on_write import rewrite
from openlaketx.loads.file_pruning import files_with_keys, near_keys
from openlaketx.loads.incoming_batch import Incoming, read_incoming, read_staged
from openlaketx.loads.keyed_changes import (
    DELETE,
    INSERT,
    LATE,
    OP,
    UPDATE,
    changed_rows,
)
from openlaketx.loads.load_result import (
    Loaded,
    SplitRows,
    no_quarantine,
    quarantined_keys,
)
from openlaketx.loads.scd2 import changed_history
from openlaketx.loads.spark_failures import explain_load, explaining
from openlaketx.loads.staged_batch import StagedBatch, incoming_schema, staged_schema
from openlaketx.loads.table_state import (
    FILE,
    Existing,
    path_below,
    read_existing,
)
from openlaketx.stage import Candidate, write_kinds

CHANGES = "changes"


@dataclass(frozen=True)
class _Tally:
    """Row counts by operation, and the files with rows that change."""

    counts: dict[str, int]
    touched: frozenset[str]
    marked: int = 0
    """Updated rows that are missing from a snapshot and soft-deleted; not part of the batch."""

    def of(self, op: str) -> int:
        return self.counts.get(op, 0)


def load_by_key(
    batch: StagedBatch,
    session: SparkSession,
    plan: RunPlan,
    existing: Existing,
    storage: Storage,
    split_rows: SplitRows = no_quarantine,
) -> Loaded:
    """Add inserts as staged, rewrite touched files, keep all others.

    Rows that fail a quarantine rule are not matched with the table.
    """
    read, late = batch.files, batch.late
    split = split_rows(read, batch.schema, existing)
    staged = split.passed
    again = partial(_rows_with_places, batch, session, plan, existing, split_rows)
    incoming = read_incoming(
        session, staged, plan, _identity(plan), again if batch.placed else None
    )
    held = quarantined_keys(session, split, plan)
    _refuse_empty_snapshot(incoming, held, plan, existing)
    changed = _changed(incoming, staged, held, plan, existing)
    if changed is None:
        tally = _Tally({INSERT: incoming.rows}, frozenset())
        rows = incoming.frame.withColumns({OP: F.lit(INSERT), FILE: F.lit(None).cast("string")})
        arrived, candidate = _write(rows, staged, incoming, tally, plan, existing, storage)
    else:
        changed.persist()
        try:
            with explaining(plan):
                tally = _tally(changed, plan, existing)
            arrived, candidate = _write(changed, staged, incoming, tally, plan, existing, storage)
        finally:
            changed.unpersist()
    return Loaded(
        candidate=candidate,
        arrived=arrived,
        read=read,
        batch=incoming.rows + incoming.duplicates + late,
        removes=tuple(sorted(tally.touched)),
        stays=existing.without(tally.touched),
        changes=_changes(plan, tally, incoming, late),
    )


def _rows_with_places(
    batch: StagedBatch,
    session: SparkSession,
    plan: RunPlan,
    existing: Existing,
    split_rows: SplitRows,
) -> DataFrame:
    """The rows again with their files' rank; only needed if rows of a key conflict."""
    if batch.placed is None:
        raise ValueError("the files of the batch have no order")
    staged = batch.placed()
    columns = (*incoming_schema(plan).columns, Column(name=PLACE, type="long"))
    passed = split_rows(staged, staged_schema(plan, placed=True), existing).passed
    return read_staged(session, passed, TableSchema(columns=columns))


def merge_keys(plan: RunPlan) -> tuple[str, ...]:
    """Columns that identify a row of the table."""
    history = plan.load.type is LoadType.SCD2
    return (*plan.load.keys, VALID_FROM) if history else plan.load.keys


def _identity(plan: RunPlan) -> tuple[str, ...]:
    """Columns that identify a row of the batch: the key and, for SCD2, its time."""
    effective = plan.load.effective if plan.load.type is LoadType.SCD2 else ""
    return (*plan.load.keys, effective) if effective else plan.load.keys


def _refuse_empty_snapshot(
    incoming: Incoming, held: DataFrame | None, plan: RunPlan, existing: Existing
) -> None:
    """An empty snapshot would delete the table. Quarantined rows with a key count as rows."""
    if plan.load.type is not LoadType.SNAPSHOT or incoming.rows or plan.load.allow_empty:
        return
    if existing.rows and (held is None or held.isEmpty()):
        what = f"all {existing.rows} rows" if plan.window is None else "every row of the window"
        raise LoadFailed(
            dataset=plan.dataset,
            reason=f"the snapshot is empty, which would delete {what};"
            " to allow that, set allow_empty: true in its load",
        )


def _changed(
    incoming: Incoming,
    staged: Candidate,
    held: DataFrame | None,
    plan: RunPlan,
    existing: Existing,
) -> DataFrame | None:
    """The rows that change, with their operation; None if all are new.

    Keys in ``held`` are not missing from a snapshot: their rows in the table stay.
    """
    session = incoming.frame.sparkSession
    if plan.load.type is LoadType.SNAPSHOT:
        rows = read_existing(session, plan, existing, existing.files)
        if held is not None:
            keys = list(plan.load.keys)
            alone = held.join(incoming.frame, keys, "left_anti")
            rows = rows.join(alone, keys, "left_anti").select(*map(quoted_name, rows.columns))
        return changed_rows(incoming, rows, plan)
    paths = files_with_keys(existing, staged, plan.declared, plan.load.keys)
    adds_no_column = plan.load.deletes is Deletes.HARD
    if not paths and adds_no_column and plan.load.type in (LoadType.APPEND, LoadType.INCREMENTAL):
        return None
    rows = read_existing(session, plan, existing, paths)
    rows = near_keys(rows, existing, paths, staged, plan)
    if plan.load.type is LoadType.SCD2:
        return changed_history(incoming, rows, plan)
    return changed_rows(incoming, rows, plan)


def _tally(changed: DataFrame, plan: RunPlan, existing: Existing) -> _Tally:
    soft = plan.load.type is LoadType.SNAPSHOT and plan.load.deletes is Deletes.SOFT
    is_marked = F.col(IS_DELETED) if soft else F.lit(False)
    counts: dict[str, int] = {}
    touched, marked = set(), 0
    found = changed.groupBy(OP, FILE).agg(
        F.count(F.lit(1)).alias("rows"), F.count_if(is_marked).alias("marked")
    )
    for row in found.collect():
        counts[row[OP]] = counts.get(row[OP], 0) + row["rows"]
        marked += row["marked"]
        if row[OP] in (UPDATE, DELETE):
            touched.add(path_below(existing, row[FILE]))
    return _Tally(counts, frozenset(touched), marked)


def _write(
    changed: DataFrame,
    staged: Candidate,
    incoming: Incoming,
    tally: _Tally,
    plan: RunPlan,
    existing: Existing,
    storage: Storage,
) -> tuple[Candidate, Candidate]:
    """Files with the rows that the run adds or updates, and all files that the commit adds."""
    as_staged = incoming_schema(plan) == plan.table_schema and not incoming.duplicates
    if as_staged and tally.of(INSERT) == incoming.rows and not tally.touched:
        return staged, staged
    session = changed.sparkSession
    nothing = Candidate(plan.location, (), ())
    inserted, updated = nothing, nothing
    if tally.of(INSERT) or tally.of(UPDATE):
        rows = changed.filter(F.col(OP).isin(INSERT, UPDATE)).drop(FILE)
        kinds = write_kinds(
            rows,
            plan,
            plan.table_schema,
            explain_load(plan),
            storage,
            folder=CHANGES,
            kind=OP,
            kinds=(INSERT, UPDATE),
        )
        inserted, updated = kinds[INSERT], kinds[UPDATE]
    arrived = inserted.joined(updated)
    if not tally.touched:
        return arrived, inserted
    keys = merge_keys(plan)
    deleted = changed.filter(F.col(OP) == DELETE)
    rewritten = rewrite(
        session,
        plan,
        existing,
        tally.touched,
        keys,
        read_staged(session, updated, plan.table_schema),
        deleted.select(*(F.col(quoted_name(name)) for name in keys)),
        storage,
        updates=updated.rows,
        deletes=tally.of(DELETE),
    )
    return arrived, inserted.joined(rewritten)


def _changes(plan: RunPlan, tally: _Tally, incoming: Incoming, late: int) -> Changes:
    used = tally.of(INSERT) + tally.of(UPDATE) - tally.marked + tally.of(LATE)
    if plan.load.type is LoadType.CDC:
        used += tally.of(DELETE)
    return Changes(
        inserted=tally.of(INSERT),
        updated=tally.of(UPDATE),
        deleted=tally.of(DELETE),
        unchanged=max(incoming.rows - used, 0),
        late=tally.of(LATE) + late,
        duplicates=incoming.duplicates,
    )
