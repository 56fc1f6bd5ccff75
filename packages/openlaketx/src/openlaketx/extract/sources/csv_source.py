"""CSV files as one frame of strings."""

from __future__ import annotations

import csv
import re
import secrets
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from lakeguard_sdk.core.enums import Malformed
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import Storage, local_path
from lakeguard_sdk.types.plain_types import DateFormat
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.spark.errors import condition, reason
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract.batch import Batch, Fidelity, PlainTexts, name_problem
from openlaketx.extract.files.file_columns import (
    Declared,
    Misfit,
    SameName,
    clean_names,
    joint_columns,
)
from openlaketx.extract.files.file_order import ROW_FILE, file_order, with_row_file
from openlaketx.extract.files.malformed_rows import Fault, Writing, split_malformed
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.files.text_files import GZIP, TextProblem
from openlaketx.extract.sources.csv_dialect import (
    ENCODINGS,
    UNICODE,
    CsvDialect,
    CsvScan,
    DialectProblem,
    fields_text,
    first_fault,
    scan_csv,
)
from openlaketx.extract.sources.value_locations import csv_values, place_of

# Files with the same header are read together.


@dataclass
class HeaderGroup:
    """Files with one header, under clean names."""

    names: tuple[str, ...]
    by_lines: bool = True
    """Whether every line is one record."""
    quoted: bool = False
    plain: bool = True
    rows: int = 0
    """Of plain files."""
    files: list[SourceFile] = field(default_factory=list)


@dataclass(frozen=True)
class Headers:
    """Union of the columns, and the files by header."""

    names: tuple[str, ...]
    groups: tuple[HeaderGroup, ...]


def _read_headers(
    selection: Selection, dialect: CsvDialect, expected: tuple[str, ...], declared: Declared
) -> Headers:
    """Headers of all files; each must equal the declared header, if there is one."""
    groups: dict[tuple[str, ...], HeaderGroup] = {}
    for file in selection.files:
        scan = _scan(selection, file, dialect)
        header = _header(selection, file, scan, expected)
        if header not in groups:
            groups[header] = HeaderGroup(_clean(selection, file, header, declared))
        groups[header].files.append(file)
        groups[header].by_lines &= scan.by_lines
        groups[header].quoted |= scan.quoted
        groups[header].plain &= scan.plain
        groups[header].rows += scan.lines - 1
    found = {group.files[0].path: group.names for group in groups.values()}
    try:
        names = joint_columns(found, declared)
    except Misfit as problem:
        raise selection.unreadable(str(problem)) from None
    if invalid := name_problem(names):
        raise selection.unreadable(invalid)
    return Headers(names, tuple(groups.values()))


def _scan(selection: Selection, file: SourceFile, dialect: CsvDialect) -> CsvScan:
    try:
        return scan_csv(local_path(selection.location(file)), dialect)
    except TextProblem as problem:
        raise selection.unreadable(f"{file.path}: {problem}") from None


def _header(
    selection: Selection, file: SourceFile, scan: CsvScan, expected: tuple[str, ...]
) -> tuple[str, ...]:
    if scan.header is None:
        raise selection.unreadable(f"{file.path} is empty: it has no header")
    if expected and scan.header != expected:
        raise selection.unreadable(
            f"{file.path} does not have the declared header: {_difference(scan.header, expected)}"
        )
    return scan.header


def _clean(
    selection: Selection, file: SourceFile, header: tuple[str, ...], declared: Declared
) -> tuple[str, ...]:
    if invalid := name_problem(header):
        raise selection.unreadable(f"{file.path}: {invalid}")
    try:
        return clean_names(header, declared.names)
    except SameName as problem:
        raise selection.unreadable(f"{file.path}: {problem}") from None


def _difference(found: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    for place, (name, other) in enumerate(zip(found, wanted, strict=False), start=1):
        if name != other:
            return f"column {place} is {name!r} instead of {other!r}"
    columns = "1 column" if len(found) == 1 else f"{len(found)} columns"
    return f"{columns} instead of {len(wanted)}"


_LINE_FAULTS = ("MALFORMED", "FAILED_READ_FILE")


def read_csv(
    session: SparkSession,
    build: SourceBuild,
    selection: Selection,
    storage: Storage,
    folder: Path,
    declared: Declared,
) -> Batch:
    """All columns as strings, each file under its own header.

    A malformed line fails the run, or is quarantined in ``folder`` if the source allows it.
    """
    try:
        dialect = CsvDialect.from_options(build.options)
    except DialectProblem as problem:
        raise selection.unreadable(str(problem)) from None
    selection, rejected = _without_faults(selection, dialect, build, folder, storage)
    headers = _read_headers(selection, dialect, build.header, declared)
    names = (*headers.names, *dialect.added.values())
    if invalid := name_problem(names):
        raise selection.unreadable(invalid)
    return Batch(
        frame=_frame(session, selection, dialect, headers),
        live=TableSchema(columns=tuple(Column(name=name, type="string") for name in names)),
        inputs=(),
        position=selection.position,
        explain=partial(_explain, selection, dialect),
        confirm=partial(selection.confirm, storage),
        rejected=rejected,
        order=file_order(selection),
        place_of=place_of(selection, None if rejected else csv_values(dialect)),
        texts=_plain_texts(selection, dialect, headers),
    )


def _plain_texts(selection: Selection, dialect: CsvDialect, headers: Headers) -> PlainTexts | None:
    group, *others = headers.groups
    places = [local_path(selection.location(file)) for file in group.files]
    odd = dialect.formats or dialect.added or dialect.codec not in UNICODE
    if others or odd or selection.ordered or not group.plain:
        return None
    if any(place.endswith(GZIP) for place in places):
        return None
    return PlainTexts(
        relation=dialect.duckdb_relation(places, len(group.names)),
        nulls=tuple(filter(None, (dialect.null_value, *dialect.other_nulls))),
        rows=group.rows,
        size=sum(file.size for file in group.files),
        fidelity=(Fidelity.TEXT,) * len(group.names),
    )


def _without_faults(
    selection: Selection,
    dialect: CsvDialect,
    build: SourceBuild,
    folder: Path,
    storage: Storage,
) -> tuple[Selection, int]:
    """If malformed lines are quarantined: the files without them, and their number."""
    if build.malformed is Malformed.REFUSE:
        return selection, 0
    faults = {}
    for file in selection.files:
        try:
            faults[file.path] = csv_faults(local_path(selection.location(file)), dialect)
        except TextProblem as problem:
            raise selection.unreadable(f"{file.path}: {problem}") from None
    writing = Writing(dialect.lines, dialect.codec, copied_as=dialect.codec)
    return split_malformed(selection, faults, writing, folder, storage)


def _frame(
    session: SparkSession, selection: Selection, dialect: CsvDialect, headers: Headers
) -> DataFrame:
    """All rows; NULL where a file lacks a column."""
    parts = [_read(session, selection, dialect, group) for group in headers.groups]
    own = [*map(quoted_name, dialect.added.values()), *([ROW_FILE] if selection.ordered else [])]
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
    paths = [spark_read_path(selection.spark_location(file)) for file in group.files]
    empty = secrets.token_hex(16)
    options = dialect.spark_options(multiline=not group.by_lines, empty=empty)
    frame = with_row_file(session.read.schema(schema).options(**options).csv(paths), selection)
    for kind, name in dialect.added.items():
        frame = frame.withColumn(name, _file_fact(kind))
    bare = group.by_lines and not group.quoted
    if bare and not dialect.other_nulls and not dialect.formats:
        return frame
    kept = [name for name in frame.columns if name not in group.names]
    texts = (
        _text(frame[quoted_name(name)], name, None if bare else empty, dialect)
        for name in group.names
    )
    return frame.select(*texts, *map(quoted_name, kept))


def _file_fact(kind: str) -> SparkColumn:
    """A fact of the file of a row, as text."""
    if kind == "file_name":
        return F.col("_metadata.file_name")
    changed = F.col("_metadata.file_modification_time")
    return F.date_format(changed, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'")


def _text(text: SparkColumn, name: str, empty: str | None, dialect: CsvDialect) -> SparkColumn:
    """The text of a value: quoted empty ones, other spellings of NULL, and ISO for its format."""
    found = text if empty is None else F.when(text == empty, "").otherwise(text)
    if dialect.other_nulls:
        found = F.when(~found.isin(*dialect.other_nulls), found)
    if name in dialect.formats:
        found = _as_iso(found, dialect.formats[name])
    return found.alias(name)


def _as_iso(text: SparkColumn, form: DateFormat) -> SparkColumn:
    """Texts in the format as ISO; others as they are, so that the cast judges them."""
    date = F.concat_ws("-", *(F.substring(text, at, n) for at, n in _date_parts(form)))
    if form.hour:
        parts = [F.substring(text, at, 2) if at else F.lit("00") for at in _time_parts(form)]
        date = F.concat(date, F.lit("T"), F.concat_ws(":", *parts))
    return F.when(text.rlike(rf"\A(?:{form.pattern})\z"), date).otherwise(text)


def _date_parts(form: DateFormat) -> tuple[tuple[int, int], ...]:
    return (form.year, 4), (form.month, 2), (form.day, 2)


def _time_parts(form: DateFormat) -> tuple[int, int, int]:
    return form.hour, form.minute, form.second


def _explain(selection: Selection, dialect: CsvDialect, error: Exception) -> LakeGuardError:
    """Spark's error; for a malformed line, a second scan finds file and line."""
    if condition(error).startswith(_LINE_FAULTS):
        for file in selection.files:
            fault = first_fault(local_path(selection.location(file)), dialect)
            if fault:
                return selection.unreadable(f"{file.path}: {fault}")
    return selection.unreadable(reason(error))


# Malformed records of a CSV file, by line, so that they can be quarantined.

_NO_TEXT = re.compile("[\udc80-\udcff]")


class _Feed:
    """Lines for a CSV reader; records which of them the current record consumed."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line

    def keep_first(self) -> None:
        """Push back all lines of the record except the first."""
        self._again.extendleft(reversed(self.taken[1:]))
        del self.taken[1:]


def csv_faults(path: str, dialect: CsvDialect) -> list[Fault]:
    """Records with another width than the header, broken quotes, or undecodable bytes.

    For broken quotes, only the line where the record starts is at fault; reading resumes on the
    next one. Blank lines are ignored. A malformed header fails the run.
    """
    faults: list[Fault] = []
    with dialect.lines(path) as lines:
        feed, first, width = _Feed(lines), 1, 0
        reader = dialect.reader(feed)
        while True:
            feed.taken.clear()
            try:
                record, problem = next(reader), ""
            except StopIteration:
                return faults
            except csv.Error as error:
                record, problem = [], str(error)
                feed.keep_first()
                reader = dialect.reader(feed)
            problem = problem or _problem(record, feed.taken, width, dialect)
            if problem and not width:
                raise DialectProblem(f"line {first}: {problem}")
            last = first + len(feed.taken) - 1
            if problem:
                faults.append(Fault(first, last, problem))
            width, first = width or len(record), last + 1


def _problem(record: list[str], lines: list[str], width: int, dialect: CsvDialect) -> str:
    if any(not line.isascii() and _NO_TEXT.search(line) for line in lines):
        return f"a byte is not {ENCODINGS[dialect.codec]}"
    if record and width and len(record) != width:
        return f"{fields_text(len(record))} instead of {width}"
    return ""
