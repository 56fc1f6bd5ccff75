"""CSV files as one frame of strings under the header's own names."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path

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
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.csv_dialect import CsvDialect, DialectProblem, first_fault, look_at
from openlaketx.extract.csv_faults import csv_faults
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
) -> Batch:
    """Strings only, every file under the same header.

    A line that does not fit fails the run, or, where the source says so, is kept in ``folder``.
    """
    try:
        dialect = CsvDialect.from_options(build.options)
    except DialectProblem as problem:
        raise selection.unreadable(str(problem)) from None
    selection, rejected = _without_faults(selection, dialect, build, folder, storage)
    names, by_lines = _header(selection, dialect, build.header)
    return Batch(
        frame=_frame(session, selection, dialect, names, by_lines=by_lines),
        live=TableSchema(columns=tuple(Column(name=name, type="string") for name in names)),
        inputs=(),
        position=selection.position,
        explain=partial(_explain, selection, dialect),
        confirm=partial(selection.confirm, storage),
        rejected=rejected,
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


def _header(
    selection: Selection, dialect: CsvDialect, expected: tuple[str, ...]
) -> tuple[tuple[str, ...], bool]:
    """The one header of all files, which is the expected one where there is one."""
    header: tuple[str, ...] = ()
    first, by_lines = "", True
    for file in selection.files:
        try:
            look = look_at(local_path(selection.location(file)), dialect)
        except TextProblem as problem:
            raise selection.unreadable(f"{file.path}: {problem}") from None
        by_lines = by_lines and look.by_lines
        if look.header is None:
            raise selection.unreadable(f"{file.path} is empty: not even a header is there")
        if expected and look.header != expected:
            raise selection.unreadable(
                f"{file.path} has not the header of the definition:"
                f" {_difference(look.header, expected)}"
            )
        if not header:
            header, first = look.header, file.path
            if problem_text := name_problem(header):
                raise selection.unreadable(f"{file.path}: {problem_text}")
        elif look.header != header:
            raise selection.unreadable(
                f"{file.path} has another header than {first}: {_difference(look.header, header)}"
            )
    return header, by_lines


def _difference(found: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    for place, (name, other) in enumerate(zip(found, wanted, strict=False), start=1):
        if name != other:
            return f"column {place} is {name!r} instead of {other!r}"
    return f"{len(found)} columns instead of {len(wanted)}"


def _frame(
    session: SparkSession,
    selection: Selection,
    dialect: CsvDialect,
    names: tuple[str, ...],
    *,
    by_lines: bool,
) -> DataFrame:
    schema = StructType([StructField(name, StringType()) for name in names])
    paths = [spark_read_path(location) for location in selection.locations]
    empty = secrets.token_hex(16)
    options = dialect.spark_options(multiline=not by_lines, empty=empty)
    frame = session.read.schema(schema).options(**options).csv(paths)
    if by_lines:
        return frame
    texts = [(name, frame[quoted_name(name)]) for name in names]
    return frame.select(
        *(F.when(text == empty, "").otherwise(text).alias(name) for name, text in texts)
    )


def _explain(selection: Selection, dialect: CsvDialect, error: Exception) -> LakeGuardError:
    """Spark's complaint; for a malformed line, the file and line that a second look finds."""
    if condition(error).startswith(_LINE_FAULTS):
        for file in selection.files:
            fault = first_fault(local_path(selection.location(file)), dialect)
            if fault:
                return selection.unreadable(f"{file.path}: {fault}")
    return selection.unreadable(reason(error))
