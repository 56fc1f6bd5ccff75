"""CSV files as one frame of strings under the header's own names."""

from __future__ import annotations

import secrets
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.storage import Storage, local_path
from lakeguard_sdk.words import Malformed
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_errors import condition, reason
from openlaketx.engine.spark_types import quoted_name
from openlaketx.extract.aside import Writing, keep_aside
from openlaketx.extract.batch import Batch
from openlaketx.extract.csv_dialect import CsvDialect, DialectProblem, first_fault
from openlaketx.extract.csv_faults import csv_faults
from openlaketx.extract.csv_headers import HeaderGroup, Headers, look_at_headers
from openlaketx.extract.file_columns import Declared
from openlaketx.extract.file_order import ROW_FILE, file_order, with_row_file
from openlaketx.extract.manifest import Selection
from openlaketx.extract.text_files import TextProblem
from openlaketx.extract.value_places import csv_values, place_of

_LINE_FAULTS = ("MALFORMED", "FAILED_READ_FILE")


def read_csv(
    session: SparkSession,
    build: SourceBuild,
    selection: Selection,
    storage: Storage,
    folder: Path,
    declared: Declared,
) -> Batch:
    """Strings only, every file under its own header.

    A line that does not fit fails the run, or, where the source says so, is kept in ``folder``.
    """
    try:
        dialect = CsvDialect.from_options(build.options)
    except DialectProblem as problem:
        raise selection.unreadable(str(problem)) from None
    selection, rejected = _without_faults(selection, dialect, build, folder, storage)
    headers = look_at_headers(selection, dialect, build.header, declared)
    return Batch(
        frame=_frame(session, selection, dialect, headers),
        live=TableSchema(columns=tuple(Column(name=name, type="string") for name in headers.names)),
        inputs=(),
        position=selection.position,
        explain=partial(_explain, selection, dialect),
        confirm=partial(selection.confirm, storage),
        rejected=rejected,
        order=file_order(selection),
        place_of=place_of(selection, None if rejected else csv_values(dialect)),
    )


def _without_faults(
    selection: Selection,
    dialect: CsvDialect,
    build: SourceBuild,
    folder: Path,
    storage: Storage,
) -> tuple[Selection, int]:
    """Where bad lines are to be kept aside: the files without them, and how many there were."""
    if build.malformed is Malformed.REFUSE:
        return selection, 0
    faults = {}
    for file in selection.files:
        try:
            faults[file.path] = csv_faults(local_path(selection.location(file)), dialect)
        except TextProblem as problem:
            raise selection.unreadable(f"{file.path}: {problem}") from None
    writing = Writing(dialect.lines, dialect.codec, copied_as=dialect.codec)
    return keep_aside(selection, faults, writing, folder, storage)


def _frame(
    session: SparkSession, selection: Selection, dialect: CsvDialect, headers: Headers
) -> DataFrame:
    """All rows; a column that a file lacks is NULL there."""
    parts = [_read(session, selection, dialect, group) for group in headers.groups]
    own = [ROW_FILE] if selection.ordered else []
    filled = (
        part.select(*(_value(name, group) for name in headers.names), *own)
        for part, group in zip(parts, headers.groups, strict=True)
    )
    return reduce(DataFrame.union, filled)


def _value(name: str, group: HeaderGroup) -> SparkColumn:
    if name in group.names:
        return F.col(quoted_name(name))
    return F.lit(None).cast(StringType()).alias(name)


def _read(
    session: SparkSession, selection: Selection, dialect: CsvDialect, group: HeaderGroup
) -> DataFrame:
    schema = StructType([StructField(name, StringType()) for name in group.names])
    paths = [spark_read_path(selection.location(file)) for file in group.files]
    empty = secrets.token_hex(16)
    options = dialect.spark_options(multiline=not group.by_lines, empty=empty)
    frame = with_row_file(session.read.schema(schema).options(**options).csv(paths), selection)
    if group.by_lines:
        return frame
    texts = [(name, frame[quoted_name(name)]) for name in group.names]
    return frame.select(
        *(F.when(text == empty, "").otherwise(text).alias(name) for name, text in texts),
        *([ROW_FILE] if selection.ordered else []),
    )


def _explain(selection: Selection, dialect: CsvDialect, error: Exception) -> LakeGuardError:
    """Spark's complaint; for a malformed line, the file and line that a second look finds."""
    if condition(error).startswith(_LINE_FAULTS):
        for file in selection.files:
            fault = first_fault(local_path(selection.location(file)), dialect)
            if fault:
                return selection.unreadable(f"{file.path}: {fault}")
    return selection.unreadable(reason(error))
