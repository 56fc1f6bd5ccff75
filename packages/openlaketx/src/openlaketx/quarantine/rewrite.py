"""Writing staged files again without the rows that fail, bit by bit what the others were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.partitions import PARTITION_KEY
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage, join, local_path
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.machine import cores
from openlaketx.engine.parquet_writer import BATCH_ROWS, ParquetRows
from openlaketx.quarantine.files import ROW_SCHEMA, KeptFiles
from openlaketx.quarantine.row_bitmap import MarkedRows
from openlaketx.stage.candidate import Candidate, collect_folder

_INEXACT = ("FLOAT", "DOUBLE")


def split(
    staged: Candidate,
    failing: Mapping[str, MarkedRows],
    schema: TableSchema,
    plan: RunPlan,
    storage: Storage,
    aside: KeptFiles,
    folder: str,
) -> Candidate:
    """The files in ``failing`` without those rows, and with no column but those of the schema; all
    others as they are. The rows are in ``aside``, and what held both is no more."""
    staging = join(plan.staging, folder)
    split_up = [file for file in staged.files if file.path in failing]

    def rewrite(file: StagedFile) -> None:
        place = Path(local_path(join(plan.location, staging, _name(file, plan))))
        origin = local_path(join(plan.location, file.path))
        _split_file(origin, place, failing[file.path], schema.names, aside)

    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="split") as pool:
        list(pool.map(rewrite, split_up))
    kept = collect_folder(
        plan.location,
        staging,
        schema,
        plan.dataset,
        storage,
        plan.partition_by,
        unstated=plan.unstated,
    )
    wanted = sum(file.rows - failing[file.path].rows for file in split_up)
    if kept.rows != wanted:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"of the rows that pass, {kept.rows} were written instead of {wanted}",
        )
    for file in split_up:
        storage.remove(join(plan.location, file.path), plan.location)
    return staged.without(failing).joined(kept)


def _name(file: StagedFile, plan: RunPlan) -> str:
    """Where a write of Spark would leave it, so that it is collected by the same rules."""
    *_, above, name = file.path.split("/")
    return f"{above}/{name}" if plan.partition_by and above.startswith(PARTITION_KEY) else name


def _split_file(
    origin: str, place: Path, failing: MarkedRows, names: Sequence[str], aside: KeptFiles
) -> None:
    with pq.ParquetFile(origin) as content:
        schema = _kept_schema(content.schema_arrow, names)
        bounded = list(_bounded(content.metadata))
        with ParquetRows(place, schema, bounded) as kept:
            for start, batch in _batches(content):
                marked, bits = failing.within(start, batch.num_rows)
                if bits:
                    aside.add(batch.filter(marked), bits)
                    batch = batch.filter(pc.invert(marked))
                columns = [batch.column(name) for name in names]
                kept.add(pa.RecordBatch.from_arrays(columns, schema=schema))


def _batches(content: pq.ParquetFile) -> Iterator[tuple[int, pa.RecordBatch]]:
    start = 0
    for batch in content.iter_batches(batch_size=BATCH_ROWS):
        yield start, batch
        start += batch.num_rows


def _kept_schema(found: pa.Schema, names: Sequence[str]) -> pa.Schema:
    told = dict(found.metadata or {})
    if tuple(found.names) != tuple(names):
        told.pop(ROW_SCHEMA, None)
    return pa.schema([found.field(name) for name in names], metadata=told)


def _bounded(footer: pq.FileMetaData) -> Iterator[str]:
    """Columns to write bounds for. Those of a float are wrong where a value is no number: a column
    gets none unless the bounds that it has tell that every value of it is one."""
    for index in range(len(footer.schema)):
        column = footer.schema.column(index)
        is_plain = column.path == column.name
        if column.physical_type not in _INEXACT or (is_plain and _has_numbers(footer, index)):
            yield column.path


def _has_numbers(footer: pq.FileMetaData, index: int) -> bool:
    """Spark takes NaN for the highest value, or tells no bounds where there is one."""
    groups = range(footer.num_row_groups)
    found = (footer.row_group(group).column(index).statistics for group in groups)
    return all(
        stats is not None and stats.has_min_max and not isnan(stats.min) and not isnan(stats.max)
        for stats in found
    )
