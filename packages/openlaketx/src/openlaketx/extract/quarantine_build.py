"""Rows that waited, read again as they were set aside."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.quarantine import FIRST_SEEN, KEPT_COLUMNS, KeptFile, QuarantineBuild
from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_errors import reason
from openlaketx.engine.spark_types import quoted_name, spark_schema
from openlaketx.extract.batch import Batch, Order
from openlaketx.extract.file_order import ROW_FILE, row_file

_APART = "send the rows of one run at a time: lakeguard quarantine replay {dataset} --run {run}"


def read_kept(
    session: SparkSession,
    build: QuarantineBuild,
    dataset: str,
    lake: str,
    storage: Storage,
    *,
    ordered: bool = False,
) -> Batch:
    """Their columns as they were then; the frame has one more, which says when each row was first
    set aside. A file that is not the one that was recorded fails the run.

    Where it is ``ordered``, rows of a later run count more than those of an earlier one.
    """
    schemas: dict[TableSchema, list[KeptFile]] = {}
    for file in build.files:
        found = _checked(file, dataset, lake, storage)
        schemas.setdefault(found, []).append(file)
    live = _joint(schemas, dataset)
    parts = [_read(session, schema, files, lake) for schema, files in schemas.items()]
    frame = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    order = _order(build.files, lake) if ordered else ()
    names = [*map(quoted_name, live.names), *([ROW_FILE] if order else []), FIRST_SEEN]
    return Batch(
        frame=frame.select(*names),
        live=live,
        inputs=(),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
        order=order,
    )


def _order(files: Iterable[KeptFile], lake: str) -> Order:
    """The files from the first run to the last. Those of one run count alike: of their rows nobody
    knows any more which came later."""
    runs: dict[str, list[str]] = {}
    for file in files:
        runs.setdefault(file.run_id, []).append(local_path(join(lake, file.path)))
    return tuple(map(tuple, runs.values()))


def _checked(file: KeptFile, dataset: str, lake: str, storage: Storage) -> TableSchema:
    """The columns of a file, whose content is what was recorded of it."""
    place = join(lake, file.path)
    try:
        held = storage.sha256(place) == file.sha256
        footer = pq.read_metadata(local_path(place)) if held else None
        found = None if footer is None else table_schema(footer)
    except (OSError, pa.ArrowException, UnsupportedColumn) as error:
        told = next(iter(str(error).splitlines()), type(error).__name__)
        raise BuildFailed(dataset=dataset, reason=f"{file.path}: {told}") from None
    if footer is None or found is None or footer.num_rows != file.rows:
        raise BuildFailed(dataset=dataset, reason=f"{file.path} is not the file that was set aside")
    return found


def _joint(schemas: dict[TableSchema, list[KeptFile]], dataset: str) -> TableSchema:
    """Every column of the batches that rows are from; none may have had two types."""
    known: dict[str, Column] = {}
    for schema, (file, *_) in schemas.items():
        for column in schema.columns:
            if column.name in KEPT_COLUMNS:
                continue
            other = known.setdefault(column.name, column)
            if other != column:
                way = _APART.format(dataset=dataset, run=file.run_id)
                raise BuildFailed(
                    dataset=dataset,
                    reason=f"column {column.name} is {other.type} in some of the rows and"
                    f" {column.type} in others: {way}",
                )
    return TableSchema(columns=tuple(known.values()))


def _read(
    session: SparkSession, schema: TableSchema, files: Iterable[KeptFile], lake: str
) -> DataFrame:
    places = [spark_read_path(join(lake, file.path)) for file in files]
    frame = session.read.schema(spark_schema(schema)).parquet(*places)
    frame = frame.withColumn(ROW_FILE, row_file())
    return frame.drop(*(name for name in KEPT_COLUMNS if name != FIRST_SEEN))
