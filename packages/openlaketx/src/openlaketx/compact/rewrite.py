"""Rewriting the groups of a plan: the files to add, those to remove, and that rows are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lakeguard_sdk import faultpoints
from lakeguard_sdk.compaction import Compacted, CompactionPlan
from lakeguard_sdk.partitions import PARTITION_KEY
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.compact.merging import merge, plain_schema
from openlaketx.compact.row_sums import RowSum, columns_with_nan, row_sum
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.stage.candidate import SUCCESS, Candidate, collect
from openlaketx.stage.seal import seal


def rewrite(plan: CompactionPlan, storage: Storage, check: Callable[[], None]) -> Compacted | None:
    """All groups merged, on disk and compared; None where no two files can stand in one.

    ``check`` is asked before each group, and stops the work by raising.
    """
    groups = [found for group in plan.groups for found in _alike(plan, group)]
    if not groups:
        return None
    with duckdb_reader() as reader:
        before = RowSum(plan.table_schema.schema_hash)
        for number, group in enumerate(groups):
            check()
            before = before.and_(_merge_group(plan, reader, number, group))
        candidate = _sealed(plan, storage)
        added = [join(plan.location, file.path) for file in candidate.files]
        after = row_sum(reader, added, plan.table_schema)
    faultpoints.reached("compact.written")
    return Compacted(
        base_commit=plan.base.commit,
        adds=candidate.files,
        removes=tuple(path for group in groups for path in group),
        rows=before.rows,
        before=before.text(),
        after=after.text(),
    )


def _alike(plan: CompactionPlan, group: Sequence[str]) -> list[list[str]]:
    """The files of a group that have the same columns; what has no like is left alone."""
    kinds: dict[str, list[str]] = {}
    for path in group:
        schema = plain_schema(local_path(join(plan.location, path)), plan.table_schema)
        if schema is not None:
            kinds.setdefault(schema.remove_metadata().to_string(), []).append(path)
    return [paths for paths in kinds.values() if len(paths) > 1]


def _merge_group(
    plan: CompactionPlan, reader: DuckdbReader, number: int, group: Sequence[str]
) -> RowSum:
    files = [local_path(join(plan.location, path)) for path in group]
    schema = plain_schema(files[0], plan.table_schema)
    merge(files, _place(plan, number), schema, columns_with_nan(reader, files, plan.table_schema))
    return row_sum(reader, files, plan.table_schema)


def _place(plan: CompactionPlan, number: int) -> Path:
    """Where a write of Spark would leave it, so that it is collected by the same rules."""
    folder = Path(local_path(join(plan.location, plan.staging)))
    if plan.partition_by:
        folder /= f"{PARTITION_KEY}={number}"
    return folder / f"part-{number:05d}.snappy.parquet"


def _sealed(plan: CompactionPlan, storage: Storage) -> Candidate:
    Path(local_path(join(plan.location, plan.staging, SUCCESS))).touch()
    candidate = collect(
        plan.location, plan.staging, plan.table_schema, plan.dataset, storage, plan.partition_by
    )
    return seal(candidate, plan, storage).result()
