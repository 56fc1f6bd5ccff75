"""Generated rows as staged files: Parquet as Spark writes it, footers and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import TableSchema, decimal_size
from openlaketx.measure import ReferencedRows, Subject
from openlaketx.stage.candidate import SUCCESS, collect

OTHER = DatasetName("silver.other")
ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
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
    "binary": pa.binary(),
}


def arrow_type(data_type: str) -> pa.DataType:
    if size := decimal_size(data_type):
        return pa.decimal128(*size)
    if data_type.startswith("array<"):
        return pa.list_(arrow_type(data_type.removeprefix("array<").removesuffix(">")))
    if data_type.startswith("map<"):
        return pa.map_(pa.string(), pa.int32())
    if data_type.startswith("struct<"):
        geo = pa.struct([("lat", pa.float64())])
        return pa.struct([("city", pa.string()), ("geo", geo)])
    return ARROW[data_type]


def write_rows(file: Path, rows: Sequence[dict[str, Any]], schema: TableSchema) -> None:
    """One file with several row groups, decimals stored as Spark stores them."""
    columns = {
        column.name: _array([row[column.name] for row in rows], column.type)
        for column in schema.columns
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.table(columns), file, row_group_size=3, store_decimal_as_integer=True, version="2.6"
    )


def staged(
    folder: Path,
    batch: Sequence[dict[str, Any]],
    existing: Sequence[dict[str, Any]],
    schema: TableSchema,
    proven: tuple[str, ...] = (),
) -> Subject:
    """A table with one live file, and a batch staged beside it in two files."""
    run = folder / "runs" / "run_1"
    run.mkdir(parents=True, exist_ok=True)
    (run / SUCCESS).touch()
    half = len(batch) // 2
    for number, rows in enumerate((batch[:half], batch[half:])):
        write_rows(run / f"part-{number}.parquet", rows, schema)
    candidate = collect(str(folder), "runs/run_1", schema, "silver.t", LocalStorage())
    shown = tuple(file.path for file in candidate.files)
    if existing:
        write_rows(folder / "runs" / "run_0" / "part-0.parquet", existing, schema)
        shown = (*shown, "runs/run_0/part-0.parquet")
    return Subject(candidate, schema, shown, len(existing) + candidate.rows, proven)


def staged_beside(
    folder: Path,
    batch: Sequence[dict[str, Any]],
    existing: Sequence[dict[str, Any]],
    others: Sequence[dict[str, Any]],
    schema: TableSchema,
) -> Subject:
    """The same beside another dataset, whose keys may be referred to."""
    subject = staged(folder, batch, existing, schema)
    path = "other/part-0.parquet"
    write_rows(folder / path, others, schema)
    return replace(subject, references={OTHER: ReferencedRows(str(folder), (path,), schema)})


def _array(values: list[Any], data_type: str) -> pa.Array:
    if data_type in ("timestamp", "timestamp_ntz"):
        return pa.array(values, pa.int64()).cast(arrow_type(data_type))
    if data_type == "date":
        return pa.array(values, pa.int32()).cast(pa.date32())
    return pa.array(values, arrow_type(data_type))
