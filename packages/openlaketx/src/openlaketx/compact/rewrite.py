"""Rewriting the groups of a plan: the files to add, those to remove, and that rows are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard_sdk import faultpoints
from lakeguard_sdk.commits import written_whole
from lakeguard_sdk.compaction import Compacted, CompactionPlan
from lakeguard_sdk.partitions import PARTITION_KEY
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.compact.kinds import Kind, kinds_of
from openlaketx.compact.merging import bounded_columns, merge, write_pattern
from openlaketx.compact.row_sums import RowSum, columns_with_nan, row_sum
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.stage.candidate import SUCCESS, Candidate, collect
from openlaketx.stage.seal import seal


def rewrite(plan: CompactionPlan, storage: Storage, check: Callable[[], None]) -> Compacted | None:
    """All groups merged, on disk and compared; None where no two files can stand in one.

    ``check`` is asked before each group, and stops the work by raising.
    """
    declared = plan.table_schema
    groups = [_placed(plan, _telling(plan, group)) for group in plan.groups]
    kinds = [kind for group in groups for kind in kinds_of(group, declared)]
    if not kinds:
        return None
    with duckdb_reader() as reader:
        before = RowSum(declared.schema_hash)
        for number, kind in enumerate(kinds):
            check()
            before = before.and_(_merge_kind(plan, reader, number, kind))
        candidate = _sealed(plan, storage)
        added = [join(plan.location, file.path) for file in candidate.files]
        after = row_sum(reader, added, declared)
    faultpoints.reached("compact.written")
    return Compacted(
        base_commit=plan.base.commit,
        adds=candidate.files,
        removes=tuple(path for kind in kinds for path in kind.paths),
        rows=before.rows,
        before=before.text(),
        after=after.text(),
    )


def _telling(plan: CompactionPlan, group: Iterable[str]) -> list[str]:
    """Files that tell their partition. Of others only the table's log does, whatever they hold."""
    return [path for path in group if not plan.partition_by or written_whole(path)]


def _placed(plan: CompactionPlan, paths: Iterable[str]) -> list[tuple[str, str]]:
    return [(path, local_path(join(plan.location, path))) for path in paths]


def _merge_kind(plan: CompactionPlan, reader: DuckdbReader, number: int, kind: Kind) -> RowSum:
    """A file of no rows stands beside the others, so that each column has its type in any case."""
    declared = plan.table_schema
    files = [place for _, place in _placed(plan, kind.paths)]
    with TemporaryDirectory(prefix="compact-") as folder:
        pattern = Path(folder, "pattern.parquet")
        write_pattern(pattern, kind.schema(declared))
        compared = [*files, str(pattern)]
        bounded = bounded_columns(pattern, columns_with_nan(reader, compared, declared))
        merge(files, _place(plan, number), kind.schema(declared), bounded)
        return row_sum(reader, compared, declared)


def _place(plan: CompactionPlan, number: int) -> Path:
    """Where a write of Spark would leave it, so that it is collected by the same rules."""
    folder = Path(local_path(join(plan.location, plan.staging)))
    if plan.partition_by:
        folder /= f"{PARTITION_KEY}={number}"
    return folder / f"part-{number:05d}.snappy.parquet"


def _sealed(plan: CompactionPlan, storage: Storage) -> Candidate:
    Path(local_path(join(plan.location, plan.staging, SUCCESS))).touch()
    candidate = collect(
        plan.location,
        plan.staging,
        plan.table_schema,
        plan.dataset,
        storage,
        plan.partition_by,
        unstated=plan.unstated,
    )
    return seal(candidate, plan, storage).result()
