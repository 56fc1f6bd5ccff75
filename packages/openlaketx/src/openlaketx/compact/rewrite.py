"""Rewrites the groups of a compaction plan and proves that the rows are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.partitions import PARTITION_KEY
from lakeguard_sdk.model.table_operations import Compacted, CompactionPlan
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.storage import Storage, join, readable_file
from lakeguard_sdk.types.schema import TableSchema, decimal_size
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)
from openlaketx.compact.row_sums import RowSum, columns_with_nan, row_sum
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.engine.file_check import check_files
from openlaketx.engine.locations import writable_path
from openlaketx.engine.parquet_writer import AS_SPARK, BATCH_ROWS, ParquetRows
from openlaketx.stage.candidate import SUCCESS, Candidate, collect
from openlaketx.stage.stage import seal

# Which small files can be merged: those that share no column with different types.

_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_ROW_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


@dataclass
class Kind:
    """Files with the same type in every column they share."""

    paths: list[str] = field(default_factory=list)
    fields: dict[str, pa.Field] = field(default_factory=dict)
    metadata: dict[bytes, bytes] = field(default_factory=dict)

    def takes(self, schema: pa.Schema) -> bool:
        return all(self.fields.get(found.name, found).type == found.type for found in schema)

    def add(self, path: str, schema: pa.Schema, declared: TableSchema) -> None:
        self.paths.append(path)
        self.fields |= {found.name: found for found in schema}
        metadata = dict(schema.metadata or {})
        if tuple(schema.names) != declared.names:
            metadata.pop(
                _ROW_SCHEMA, None
            )  # its statistics cover fewer columns than the merged file has
        self.metadata = metadata | self.metadata

    def schema(self, declared: TableSchema) -> pa.Schema:
        """All declared columns in order; columns that no file has in their declared type."""
        columns = [
            self.fields.get(column.name) or pa.field(column.name, _arrow_type(column.type))
            for column in declared.columns
        ]
        return pa.schema(columns, metadata=self.metadata)


def _kinds_of(files: Iterable[tuple[str, str]], declared: TableSchema) -> list[Kind]:
    """Groups (path, location) pairs by kind; files that cannot be merged are left out."""
    kinds: list[Kind] = []
    for path, place in files:
        schema = _held(place, declared)
        if schema is None:
            continue
        kind = next((kind for kind in kinds if kind.takes(schema)), None)
        if kind is None:
            kinds.append(kind := Kind())
        kind.add(path, schema, declared)
    return [kind for kind in kinds if len(kind.paths) > 1]


def _held(location: str, declared: TableSchema) -> pa.Schema | None:
    """The declared columns of a file; None if it must not be merged.

    That is a file with legacy dates, other time units, or undeclared columns.
    """
    found = pq.read_schema(readable_file(location))
    if set(_OLD_CALENDAR) & set(found.metadata or {}) or set(found.names) - set(declared.names):
        return None
    if any(unit in str(one.type) for one in found for unit in ("[ns", "[ms", "[s")):
        return None
    return pa.schema([one.with_nullable(True) for one in found], metadata=found.metadata)


def rewrite(plan: CompactionPlan, storage: Storage, check: Callable[[], None]) -> Compacted | None:
    """All groups merged, durable and compared; None if no two files can be merged.

    ``check`` is called before each group and cancels the work by raising.
    """
    declared, merged = plan.table_schema, [path for group in plan.groups for path in group]
    check_files(plan.dataset, plan.base.table_id, plan.location, merged)
    groups = [_placed(plan, _files_with_partition_columns(plan, group)) for group in plan.groups]
    kinds = [kind for group in groups for kind in _kinds_of(group, declared)]
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
    fault_points.reached("compact.written")
    return Compacted(
        base_commit=plan.base.commit,
        adds=candidate.files,
        removes=tuple(path for kind in kinds for path in kind.paths),
        rows=before.rows,
        before=before.text(),
        after=after.text(),
    )


def _files_with_partition_columns(plan: CompactionPlan, group: Iterable[str]) -> list[str]:
    """Files that contain their partition columns; for others only the Delta log has the values."""
    return [path for path in group if not plan.partition_by or written_whole(path)]


def _placed(plan: CompactionPlan, paths: Iterable[str]) -> list[tuple[str, str]]:
    return [(path, join(plan.location, path)) for path in paths]


def _merge_kind(plan: CompactionPlan, reader: DuckdbReader, number: int, kind: Kind) -> RowSum:
    """Adds an empty file to the input, so that every column gets its declared type."""
    declared = plan.table_schema
    files = [place for _, place in _placed(plan, kind.paths)]
    with TemporaryDirectory(prefix="compact-") as folder:
        pattern = Path(folder, "pattern.parquet")
        _write_pattern(pattern, kind.schema(declared))
        compared = [*files, str(pattern)]
        bounded = _bounded_columns(pattern, columns_with_nan(reader, compared, declared))
        _merge(files, _place(plan, number), kind.schema(declared), bounded)
        return row_sum(reader, compared, declared)


def _place(plan: CompactionPlan, number: int) -> Path:
    """The name that Spark would use, so that clean-up follows the same rules."""
    folder = writable_path(join(plan.location, plan.staging))
    if plan.partition_by:
        folder /= f"{PARTITION_KEY}={number}"
    return folder / f"part-{number:05d}.snappy.parquet"


def _sealed(plan: CompactionPlan, storage: Storage) -> Candidate:
    writable_path(join(plan.location, plan.staging, SUCCESS)).touch()
    candidate = collect(
        plan.location,
        plan.staging,
        plan.table_schema,
        plan.dataset,
        storage,
        plan.partition_by,
        redacted_statistics=plan.redacted_statistics,
    )
    return seal(candidate, plan, storage).result()


# Writes the rows of several Parquet files as one, without changing types.

_INEXACT = ("FLOAT", "DOUBLE")


def _write_pattern(place: Path, schema: pa.Schema) -> None:
    """An empty file with the schema of the merged one."""
    with pq.ParquetWriter(place, schema, **AS_SPARK):
        pass


def _merge(
    files: Sequence[str],
    place: Path,
    schema: pa.Schema,
    bounded: Sequence[str],
) -> None:
    """One file with all rows of ``files`` in order; missing columns are NULL.

    Only columns in ``bounded`` get statistics.
    """
    with ParquetRows(place, schema, bounded) as rows:
        for file in files:
            with pq.ParquetFile(readable_file(file)) as content:
                for batch in content.iter_batches(batch_size=BATCH_ROWS):
                    rows.add(_filled(batch, schema))


def _bounded_columns(pattern: Path, leave_out: frozenset[str]) -> list[str]:
    """Columns to write statistics for; not nested ones, which were not searched for NaN."""
    columns = pq.read_metadata(pattern).schema
    found = (columns.column(index) for index in range(len(columns)))
    return [
        column.path
        for column in found
        if column.path not in leave_out
        and (column.physical_type not in _INEXACT or column.path == column.name)
    ]


def _filled(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    names = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


# Arrow types for columns that none of the merged files has.

_PLAIN = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def _arrow_type(declared: str) -> pa.DataType:
    """The Arrow type that a file uses for a declared type."""
    return _arrow(parse_type(declared))


def _arrow(data_type: ColumnType) -> pa.DataType:
    match data_type:
        case StructOf(fields=fields):
            return pa.struct([pa.field(name, _arrow(part)) for name, part in fields])
        case ArrayOf(element=element):
            return pa.list_(pa.field("element", _arrow(element)))
        case MapOf(key=key, value=value):
            return pa.map_(_arrow(key), _arrow(value))
        case str():
            size = decimal_size(data_type)
            return pa.decimal128(*size) if size else _PLAIN[data_type]
