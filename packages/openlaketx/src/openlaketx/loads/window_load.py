"""Backfill: replaces the rows of a window and keeps all others."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.model.windows import window_bounds
from lakeguard_sdk.storage.storage import Storage
from openlaketx.conform.selected_rows import in_window
from openlaketx.loads.file_pruning import comparable_bounds
from openlaketx.loads.load_result import Loaded
from openlaketx.loads.spark_failures import explain_load
from openlaketx.loads.table_state import (
    FILE,
    Existing,
    path_below,
    read_existing,
)
from openlaketx.stage import Candidate, write_files

RETAINED = "kept"


def load_window(
    staged: Candidate, session: SparkSession, plan: RunPlan, existing: Existing, storage: Storage
) -> Loaded:
    """The staged rows replace the table's rows in the window.

    Files without rows in the window are retained; the others are rewritten without those rows.
    """
    inside = _rows_inside(session, plan, existing)
    _refuse_deletion(plan, staged.rows, sum(inside.values()), "is left")
    removes = set(inside)
    quarantined_rows = sum(existing.files[path].rows or 0 for path in removes) - sum(
        inside.values()
    )
    candidate = staged
    if quarantined_rows:
        rows = read_existing(session, plan, existing, removes).filter(~in_window(plan)).drop(FILE)
        retained = write_files(
            rows, plan, plan.table_schema, explain_load(plan), storage, folder=RETAINED
        )
        candidate = staged.joined(retained)
    return Loaded(
        candidate=candidate,
        arrived=staged,
        read=staged,
        batch=staged.rows,
        removes=tuple(sorted(removes)),
        stays=existing.without(removes),
        changes=Changes(inserted=staged.rows, deleted=sum(inside.values())),
    )


def refuse_emptied_window(plan: RunPlan, left: int, changes: Changes | None) -> None:
    """Fail instead of deleting a window whose rows are all quarantined."""
    _refuse_deletion(plan, left, changes.deleted if changes else 0, "passes")


def _refuse_deletion(plan: RunPlan, rows: int, deleted: int, lacking: str) -> None:
    if plan.window is not None and deleted and not rows:
        raise LoadFailed(
            dataset=plan.dataset,
            reason=f"no row from {plan.window.start} to {plan.window.end} {lacking}, which"
            f" would delete the {deleted} rows of the table in that window",
        )


def _rows_inside(session: SparkSession, plan: RunPlan, existing: Existing) -> dict[str, int]:
    """Number of rows in the window for each file that has any."""
    if plan.window is None:
        raise ValueError("the run has no window")
    column = plan.window.column
    data_type = str(plan.declared.type_of(column))
    low, high = comparable_bounds(window_bounds(plan.window, data_type), data_type)
    may = set(existing.files)
    if existing.has_comparable_ranges(column, data_type):
        may = existing.overlapping(column, low, high)
    if not may:
        return {}
    counted = (
        read_existing(session, plan, existing, may)
        .filter(in_window(plan))
        .groupBy(FILE)
        .agg(F.count(F.lit(1)).alias("rows"))
    )
    return {path_below(existing, row[FILE]): row["rows"] for row in counted.collect()}
