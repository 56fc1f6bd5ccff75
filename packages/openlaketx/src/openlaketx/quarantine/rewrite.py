"""Rewrites staged files without the failing rows; all other rows keep their exact values."""

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
from lakeguard_sdk.storage.storage import Storage, join, readable_file
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.locations import writable_path
from openlaketx.engine.machine import cores
from openlaketx.engine.parquet_writer import BATCH_ROWS, ParquetRows
from openlaketx.quarantine.files import ROW_SCHEMA, QuarantineFiles
from openlaketx.quarantine.row_bitmap import RowBitmap
from openlaketx.stage.candidate import Candidate, collect_folder

_INEXACT = ("FLOAT", "DOUBLE")


def split(
    staged: Candidate,
    failing: Mapping[str, RowBitmap],
    schema: TableSchema,
    plan: RunPlan,
    storage: Storage,
    quarantine: QuarantineFiles,
    folder: str,
) -> Candidate:
    """Rewrites the files in ``failing`` without these rows and with only the columns of the schema.

    The failing rows go to ``quarantine``; the original files are deleted. Other files stay as
    they are.
    """
    staging = join(plan.staging, folder)
    split_up = [file for file in staged.files if file.path in failing]

    def rewrite(file: StagedFile) -> None:
        place = writable_path(join(plan.location, staging, _name(file, plan)))
        origin = join(plan.location, file.path)
        _split_file(origin, place, failing[file.path], schema.names, quarantine)

    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="split") as pool:
        list(pool.map(rewrite, split_up))
    rewritten = collect_folder(
        plan.location,
        staging,
        schema,
        plan.dataset,
        storage,
        plan.partition_by,
        redacted_statistics=plan.redacted_statistics,
    )
    wanted = sum(file.rows - failing[file.path].rows for file in split_up)
    if rewritten.rows != wanted:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"wrote {rewritten.rows} of {wanted} passing rows",
        )
    for file in split_up:
        storage.remove(join(plan.location, file.path), plan.location)
    return staged.without(failing).joined(rewritten)


def _name(file: StagedFile, plan: RunPlan) -> str:
    """The name that Spark would use, so that clean-up follows the same rules."""
    *_, above, name = file.path.split("/")
    return f"{above}/{name}" if plan.partition_by and above.startswith(PARTITION_KEY) else name


def _split_file(
    origin: str, place: Path, failing: RowBitmap, names: Sequence[str], quarantine: QuarantineFiles
) -> None:
    with pq.ParquetFile(readable_file(origin)) as content:
        schema = _passing_schema(content.schema_arrow, names)
        bounded = list(_bounded(content.metadata))
        with ParquetRows(place, schema, bounded, _repeated(content.metadata)) as passing:
            for start, batch in _batches(content):
                marked, bits = failing.within(start, batch.num_rows)
                if bits:
                    quarantine.add(batch.filter(marked), bits)
                    batch = batch.filter(pc.invert(marked))
                columns = [batch.column(name) for name in names]
                passing.add(pa.RecordBatch.from_arrays(columns, schema=schema))


def _batches(content: pq.ParquetFile) -> Iterator[tuple[int, pa.RecordBatch]]:
    start = 0
    for batch in content.iter_batches(batch_size=BATCH_ROWS):
        yield start, batch
        start += batch.num_rows


def _passing_schema(found: pa.Schema, names: Sequence[str]) -> pa.Schema:
    metadata = dict(found.metadata or {})
    if tuple(found.names) != tuple(names):
        metadata.pop(ROW_SCHEMA, None)
    return pa.schema([found.field(name) for name in names], metadata=metadata)


def _repeated(footer: pq.FileMetaData) -> list[str]:
    """Columns with a dictionary: the remaining rows have as many values, or hardly fewer."""
    groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
    return [
        footer.schema.column(index).path
        for index in range(len(footer.schema))
        if any(_has_dictionary(group.column(index).encodings) for group in groups)
    ]


def _has_dictionary(encodings: Sequence[str]) -> bool:
    return any("DICTIONARY" in encoding for encoding in encodings)


def _bounded(footer: pq.FileMetaData) -> Iterator[str]:
    """Columns to write statistics for. A float column gets them only if its existing statistics
    prove that it has no NaN."""
    for index in range(len(footer.schema)):
        column = footer.schema.column(index)
        is_plain = column.path == column.name
        if column.physical_type not in _INEXACT or (is_plain and _has_numbers(footer, index)):
            yield column.path


def _has_numbers(footer: pq.FileMetaData, index: int) -> bool:
    """Spark treats NaN as the maximum, or writes no statistics."""
    groups = range(footer.num_row_groups)
    found = (footer.row_group(group).column(index).statistics for group in groups)
    return all(
        stats is not None and stats.has_min_max and not isnan(stats.min) and not isnan(stats.max)
        for stats in found
    )
