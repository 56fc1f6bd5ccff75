"""Text files read by DuckDB, on one machine several times as fast as by Spark.

It reads plain files only, and only if every value is valid: it accepts the texts that
``casts.py`` accepts and makes the same values of them. For anything else Spark reads the batch,
so that errors, their lines and quarantine are always Spark's.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.types.schema import FLOATS, Column, TableSchema, decimal_size
from openlaketx.conform.casts import NOT_YEAR_ZERO, text_guard
from openlaketx.engine.duckdb_reader import duckdb_reader, duckdb_text
from openlaketx.engine.spark.runtime import is_local
from openlaketx.engine.spark.types import spark_schema
from openlaketx.extract import Batch
from openlaketx.extract.batch import Fidelity, PlainTexts

_TYPES = {
    "string": "VARCHAR",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
}
_FIRST_TIME = "TIMESTAMPTZ '0001-01-01 00:00:00Z'"
_LAST_TIME = "TIMESTAMPTZ '9999-12-31 23:59:59.999999Z'"
_MOST_BYTES = 4 << 30
"""A cancelled run waits until the files are read."""


@contextmanager
def with_typed_texts(batch: Batch, plan: RunPlan) -> Iterator[Batch]:
    """The batch with its texts in the declared types, if DuckDB can read them; else as it is.

    Its rows must be read inside the block.
    """
    texts = batch.texts
    if texts is None or not _is_suitable(batch, texts, plan.batch_schema):
        yield batch
        return
    with tempfile.TemporaryDirectory(prefix="texts-") as folder:
        fits = shutil.disk_usage(folder).free > 2 * texts.size
        yield (_read(batch, texts, plan.batch_schema, Path(folder)) if fits else None) or batch


def _is_suitable(batch: Batch, texts: PlainTexts, declared: TableSchema) -> bool:
    """Whether there is a typed column to read, and each has a type that DuckDB reads alike."""
    kinds = [_declared_type(column, declared) for column in batch.live.columns]
    misspelt = {name.casefold() for name in declared.names} & {
        name.casefold() for name in batch.live.names if name not in declared.names
    }
    pairs = zip(texts.fidelity, kinds, strict=True)
    return (
        all(kind in _TYPES or decimal_size(kind) for kind in kinds)
        and all(_is_exact_enough(fidelity, kind) for fidelity, kind in pairs)
        and any(kind != "string" for kind in kinds)
        and not misspelt
        and texts.size <= _MOST_BYTES
        and is_local(batch.frame.sparkSession)
    )


def _is_exact_enough(fidelity: Fidelity, declared: str) -> bool:
    if fidelity is Fidelity.DOUBLE:
        return declared == "double"
    return fidelity is Fidelity.TEXT or declared != "string"


def _read(batch: Batch, texts: PlainTexts, declared: TableSchema, folder: Path) -> Batch | None:
    """None if a value is invalid, or if the files do not have as many rows as lines."""
    live = TableSchema(
        columns=tuple(
            Column(name=column.name, type=_declared_type(column, declared))
            for column in batch.live.columns
        )
    )
    try:
        _write(texts, live, folder)
    except (duckdb.Error, OSError):
        return None
    if sum(pq.read_metadata(file).num_rows for file in _files(folder)) != texts.rows:
        return None
    return replace(batch, frame=_frame(batch.frame.sparkSession, live, folder), live=live)


def _declared_type(column: Column, declared: TableSchema) -> str:
    return declared.type_of(column.name) or "string"


def _write(texts: PlainTexts, live: TableSchema, folder: Path) -> None:
    columns = (
        f"{duckdb_value(f'c{place}', column.type, texts.nulls)} AS c{place}"
        for place, column in enumerate(live.columns)
    )
    query = f"SELECT {', '.join(columns)} FROM {texts.relation}"  # noqa: S608 - texts are literals
    to = duckdb_text(str(folder))
    with duckdb_reader() as reader:
        reader.rows(
            f"COPY ({query}) TO {to} (FORMAT parquet, COMPRESSION snappy, PER_THREAD_OUTPUT,"
            " OVERWRITE_OR_IGNORE)",
            {},
        )


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def _frame(session: SparkSession, live: TableSchema, folder: Path) -> DataFrame:
    plain = tuple(
        column.model_copy(update={"name": f"c{place}"}) for place, column in enumerate(live.columns)
    )
    schema = spark_schema(TableSchema(columns=plain))
    frame = session.read.schema(schema).parquet(*map(str, _files(folder)))
    return frame.toDF(*live.names)


# SQL of one value.


def duckdb_value(text: str, declared: str, nulls: tuple[str, ...]) -> str:
    """The text as a value of the type; an error for an invalid text."""
    if nulls:
        listed = ", ".join(map(duckdb_text, nulls))
        text = f"(CASE WHEN {text} NOT IN ({listed}) THEN {text} END)"
    if declared == "string":
        return text
    guard = text_guard(declared) or ""
    valid = f"regexp_matches({text}, {duckdb_text(guard.replace(NOT_YEAR_ZERO, ''))})"
    if NOT_YEAR_ZERO in guard:
        valid += f" AND {text} >= '0001'"
    kind = _TYPES.get(declared, declared)
    cast = f"CAST({text} AS {kind})"
    bounds = _bounds(cast, declared)
    return (
        f"CASE WHEN {text} IS NULL OR {text} = '' THEN NULL"
        f" WHEN {valid}{f' AND {bounds}' if bounds else ''}"
        f" THEN {cast} ELSE CAST('invalid ' || {text} AS {kind}) END"
    )


def _bounds(cast: str, declared: str) -> str:
    """What ``is_sound`` asks of the value itself."""
    if declared in FLOATS:
        return f"isfinite({cast})"
    if declared == "timestamp":
        return f"{cast} BETWEEN {_FIRST_TIME} AND {_LAST_TIME}"
    return ""
