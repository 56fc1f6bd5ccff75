"""The batch of a run on disk: what a build writes before the load is applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from pyspark.sql import DataFrame

from lakeguard_sdk.core.enums import HashStrategy, LoadType
from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.load import KEY_HASH, KEYED_LOADS, ROW_HASH
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage, below, join
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.conform.hashes import with_hashes
from openlaketx.conform.latest_rows import latest, refuse_null_keys
from openlaketx.conform.selected_rows import chosen_rows, in_window, late_rows
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract import Batch
from openlaketx.extract.batch import Order
from openlaketx.extract.files.file_order import PLACE, ROW_FILE, with_places
from openlaketx.loads.load_result import time_last, with_time
from openlaketx.loads.spark_failures import explaining
from openlaketx.loads.table_state import existing_table, read_existing
from openlaketx.stage import Candidate, FileMarks, stage
from openlaketx.stage.candidate import collect, refuse_irregular, remove_checksum_files
from openlaketx.stage.file_footer import UnusualLayout, checked_footer

INCOMING, PLACED = "incoming", "placed"


@dataclass(frozen=True)
class StagedBatch:
    """The files of a batch, in the columns that its load reads."""

    files: Candidate
    schema: TableSchema
    marks: FileMarks
    """Taken before the footers were read, if another process wrote the files; else empty."""
    late: int = 0
    """Rows below the watermark, not staged."""
    rejected: int = 0
    """Malformed rows, quarantined and not staged."""
    checked: Future[None] | None = None
    """Compares the footers with the rows, if another process wrote the files."""
    placed: Callable[[], Candidate] | None = None
    """Stages the rows again, each with the rank of its file; None if no order is known."""


def merges(plan: RunPlan) -> bool:
    """Whether the load matches rows of the batch and the table by key."""
    if plan.load.type in KEYED_LOADS:
        return True
    return plan.load.type is LoadType.APPEND and bool(plan.load.keys) and plan.window is None


def incoming_schema(plan: RunPlan) -> TableSchema:
    """Columns of a keyed load's batch: those of the batch, and the hash that the load writes."""
    added = {HashStrategy.ROW_HASH: ROW_HASH, HashStrategy.KEY_HASH: KEY_HASH}
    columns = plan.batch_schema.columns
    if name := added.get(plan.load.hash):
        columns = (*columns, Column(name=name, type="string"))
    return TableSchema(columns=columns)


def staged_schema(plan: RunPlan, *, placed: bool = False) -> TableSchema:
    """The columns of the staged files."""
    schema = with_time(incoming_schema(plan) if merges(plan) else plan.table_schema, plan)
    if not placed:
        return schema
    return TableSchema(columns=(*schema.columns, Column(name=PLACE, type="long")))


def staged_folder(plan: RunPlan, *, placed: bool = False) -> str:
    """The folder of the files, relative to the run's; a keyed load publishes other files."""
    if placed:
        return PLACED
    return INCOMING if merges(plan) else ""


def stage_batch(frame: DataFrame, batch: Batch, plan: RunPlan, storage: Storage) -> StagedBatch:
    """Write the rows that the run loads; ``frame`` has the declared columns of ``batch``."""
    with explaining(plan):
        late = late_rows(frame, plan)
    frame = time_last(with_hashes(chosen_rows(frame, plan), plan), plan)
    rows = frame.drop(ROW_FILE) if merges(plan) else _deduplicated(frame, batch, plan)
    files = _staged(rows, batch, plan, storage)

    def placed() -> Candidate:
        ranked = with_places(frame, files_in_turn(batch, plan))
        return _staged(ranked, batch, plan, storage, placed=True)

    again = placed if batch.order and merges(plan) else None
    unmarked = FileMarks(plan.location, {})
    return StagedBatch(files, staged_schema(plan), unmarked, late, batch.rejected, placed=again)


def collect_batch(
    plan: RunPlan, storage: Storage, *, placed: bool = False
) -> tuple[Candidate, FileMarks]:
    """The files that another process staged, verified by their footers, and their marks."""
    run_folder = join(plan.location, plan.staging)
    refuse_irregular(run_folder, plan.dataset, storage)
    remove_checksum_files(run_folder, storage)
    folder = staged_folder(plan, placed=placed)
    staging = join(plan.staging, folder) if folder else plan.staging
    places = [facts.path for facts in storage.files_under(join(plan.location, staging))]
    found = [below(place, plan.location) for place in places]
    marks = FileMarks.of(plan.location, found, storage, shared=True)
    _refuse_unusual_footers(places, plan)
    files = collect(
        plan.location,
        staging,
        staged_schema(plan, placed=placed),
        plan.dataset,
        storage,
        plan.partition_by,
        redacted_statistics=plan.redacted_statistics,
    )
    marks.check(plan.dataset, storage)
    return files, marks


def _refuse_unusual_footers(places: Sequence[str], plan: RunPlan) -> None:
    for place in places:
        name = place.rpartition("/")[2]
        if name.startswith((".", "_")):
            continue
        try:
            checked_footer(place)
        except UnusualLayout as error:
            raise StagingFailed(dataset=plan.dataset, reason=f"{name}: {error}") from None


def files_in_turn(batch: Batch, plan: RunPlan) -> Order:
    """The files of a batch in order of precedence, highest last: the latest file, or the first one
    if later rows of a key add nothing."""
    return batch.order[::-1] if plan.load.type is LoadType.APPEND else batch.order


def _staged(
    rows: DataFrame, batch: Batch, plan: RunPlan, storage: Storage, *, placed: bool = False
) -> Candidate:
    schema, folder = staged_schema(plan, placed=placed), staged_folder(plan, placed=placed)
    return stage(rows, batch, plan, storage, schema=schema, folder=folder)


def _deduplicated(frame: DataFrame, batch: Batch, plan: RunPlan) -> DataFrame:
    """One row of each key, if the load has keys without matching rows of the table."""
    inserts_by_key = plan.load.type is LoadType.APPEND and bool(plan.load.keys)
    if batch.order:
        frame = with_places(frame, files_in_turn(batch, plan))
    if inserts_by_key or (plan.load.keys and plan.load.order_by):
        frame = refuse_null_keys(frame, plan.load.keys)
        frame = latest(frame, plan.table_schema, plan.load.keys, plan.load.order_by)
    return _without_keys_outside(frame, plan) if inserts_by_key else frame


def _without_keys_outside(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """Rows of a backfill whose key does not exist outside the window."""
    existing = existing_table(plan)
    rows = read_existing(frame.sparkSession, plan, existing, existing.files)
    outside = rows.filter(~in_window(plan)).select(*(quoted_name(n) for n in plan.load.keys))
    return frame.join(outside, list(plan.load.keys), "left_anti").select(
        *(quoted_name(name) for name in frame.columns)
    )
