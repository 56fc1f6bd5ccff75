"""Inspects the files of a pattern and proposes a definition."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.errors import SourceNotInspectable
from lakeguard_sdk.model.source_preview import PreviewColumn, SourcePreview
from lakeguard_sdk.storage.storage import join, located, storage_for, table_uri
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.extract.batch import name_problem
from openlaketx.extract.files.manifest import matching, reserved_problem
from openlaketx.extract.files.text_files import TextProblem
from openlaketx.extract.sources.jsonl_lines import (
    BLANKS,
    fault_reason,
    json_lines,
    nested_texts,
    read_object,
    strict_decoder,
)
from openlaketx.source_inspection.csv_files import inspect_csv
from openlaketx.source_inspection.keys import KeyColumn, find_keys
from openlaketx.source_inspection.measures import Ask, asked_of_seen
from openlaketx.source_inspection.sample_rows import (
    LIMITS,
    Limits,
    SampleColumn,
    SampleRows,
    sample_rows,
)
from openlaketx.source_inspection.store_copies import StoreCopies, store_copies
from openlaketx.source_inspection.table_files import (
    delta_files,
    inspect_table,
    parquet_schema,
    take_rows,
)
from openlaketx.source_inspection.type_inference import NUMBERS, TextTable


@dataclass(frozen=True)
class Files:
    """The files to inspect, of all that are ``there``."""

    format: SourceFormat
    chosen: list[str]
    there: int
    are_whole: bool = True


@dataclass(frozen=True)
class Found:
    """The columns of the files, and the index of each among the sampled rows, if it has one."""

    names: Sequence[str]
    types: Sequence[str]
    nulls: Sequence[int]
    places: Sequence[int | None]
    whole: bool
    options: dict[str, str] = field(default_factory=dict)
    null_marks: tuple[str, ...] | None = None
    """The texts that represent NULL; None for typed files."""


def inspect_source(
    pattern: str,
    root: str,
    limits: Limits = LIMITS,
    *,
    whole: bool = False,
    ask: Ask | None = None,
) -> SourcePreview:
    """Describes the files of the pattern, within the limits.

    A relative pattern is below ``root``. ``SourceNotInspectable`` names a file that does not fit a
    source of one format. ``whole`` reads every row of a Delta table. With ``ask`` the columns are
    profiled too, and its measures are taken on the sampled rows.
    """
    place = located(root, pattern)
    if not whole and (reserved := reserved_problem(pattern, (), root)):
        raise SourceNotInspectable(pattern=pattern, reason=reserved)
    with sample_rows() as rows, store_copies(pattern) as copies:
        if whole:
            return inspect_table(table_uri(place), rows, ask)
        if storage_for(place).has_files(join(place, "_delta_log")):
            table = delta_files(table_uri(place))
            chosen = list(table.files[: limits.files])
            files = Files(SourceFormat.DELTA, chosen, len(table.files))
            return _sketch(files, _typed(files, table.schema, rows, limits), rows, ask)
        files = _files(pattern, root, limits, copies)
        if files.format is SourceFormat.PARQUET:
            found = _typed(files, parquet_schema(files.chosen), rows, limits)
        else:
            found = _texts(files, rows, limits)
        return _sketch(files, found, rows, ask)


def _files(pattern: str, root: str, limits: Limits, copies: StoreCopies) -> Files:
    place = located(root, pattern)
    if storage_for(place).has_files(place):
        reason = "it is a folder; give a file pattern, such as *.csv"
        raise SourceNotInspectable(pattern=pattern, reason=reason)
    paths = matching(pattern, root)
    there = [table_uri(located(root, path)) for path in paths]
    if reserved := reserved_problem(pattern, paths, root):
        raise SourceNotInspectable(pattern=pattern, reason=reserved)
    if not there:
        raise SourceNotInspectable(pattern=pattern, reason="no file matches")
    formats = [_format_of(file) for file in there]
    for file, kind in zip(there, formats, strict=True):
        if kind is not formats[0]:
            reason = f"{file} is {kind}, and {there[0]} is {formats[0]}"
            raise SourceNotInspectable(pattern=pattern, reason=reason)
    chosen = there[: limits.files]
    if formats[0] is not SourceFormat.PARQUET:
        chosen = [copies.of(file) for file in chosen]
    return Files(formats[0], chosen, len(there), copies.is_whole)


def _texts(files: Files, rows: SampleRows, limits: Limits) -> Found:
    csv = files.format is SourceFormat.CSV
    table = (inspect_csv if csv else _inspect_json)(files.chosen, rows, limits)
    facts, options = table.facts(rows), dict(table.options)
    marks = table.null_marks(rows, facts) if csv else []
    if marks:
        options["null_value"] = marks[0] if len(marks) == 1 else canonical_json(marks)
        facts = table.facts(rows, marks)
    return Found(
        names=table.names,
        types=[fact.type for fact in facts],
        nulls=table.nulls(rows, facts),
        places=range(len(table.names)),
        whole=table.whole,
        options=options,
        null_marks=tuple(marks),
    )


def _typed(files: Files, schema: TableSchema, rows: SampleRows, limits: Limits) -> Found:
    """Columns that are in no file, such as partition columns, are not profiled."""
    inside = parquet_schema(files.chosen[:1]).names if files.chosen else ()
    held = [name for name in schema.names if name in inside]
    whole = take_rows(files.chosen, held, rows, limits)
    nulls = dict(zip(held, _nulls(rows, len(held)), strict=True))
    return Found(
        names=schema.names,
        types=[column.type for column in schema.columns],
        nulls=[nulls.get(name, 0) for name in schema.names],
        places=[held.index(name) if name in nulls else None for name in schema.names],
        whole=whole,
    )


def _nulls(rows: SampleRows, width: int) -> list[int]:
    if not width:
        return []
    asked = ", ".join(f"count(*) - count(c{index:d})" for index in range(width))
    return [int(count) for count in rows.ask(f"SELECT {asked} FROM seen")[0]]  # noqa: S608


def _sketch(files: Files, found: Found, rows: SampleRows, ask: Ask | None) -> SourcePreview:
    names = _declared_names(found.names, files.chosen[0] if files.chosen else "the table")
    columns = [
        PreviewColumn(name=name, type=data_type, found_as=raw, nulls=nulls)
        for name, data_type, raw, nulls in zip(
            names, found.types, found.names, found.nulls, strict=True
        )
    ]
    filled = [
        KeyColumn(place, column.name, column.type)
        for place, column in zip(found.places, columns, strict=True)
        if place is not None and not column.nulls
    ]
    sketch = SourcePreview(
        format=files.format,
        options=found.options,
        columns=tuple(columns),
        keys=find_keys(rows, filled),
        files=len(files.chosen),
        files_found=files.there,
        rows=rows.count,
        bytes=sum(storage_for(file).facts(file).size for file in files.chosen),
        whole=found.whole and files.are_whole and len(files.chosen) == files.there,
    )
    seen = [
        SampleColumn(place, column.name, column.type, column.nulls, found.null_marks)
        for place, column in zip(found.places, columns, strict=True)
        if place is not None
    ]
    if ask is None or not seen or not rows.count:
        return sketch
    return asked_of_seen(sketch, rows, seen, ask)


# The format of a file: by its name, else by its first bytes.

_BY_NAME = {
    ".csv": SourceFormat.CSV,
    ".tsv": SourceFormat.CSV,
    ".txt": SourceFormat.CSV,
    ".json": SourceFormat.JSONL,
    ".jsonl": SourceFormat.JSONL,
    ".ndjson": SourceFormat.JSONL,
    ".parquet": SourceFormat.PARQUET,
    ".pq": SourceFormat.PARQUET,
}
_PARQUET = b"PAR1"
_HEAD = 1024
_GZIP = 16 + zlib.MAX_WBITS


def _format_of(file: str) -> SourceFormat:
    known = _BY_NAME.get(Path(file.removesuffix(".gz")).suffix.lower())
    if known is not None:
        return known
    try:
        with storage_for(file).open(file) as content:
            head = content.read(_HEAD)
        head = zlib.decompressobj(_GZIP).decompress(head) if file.endswith(".gz") else head
    except (OSError, zlib.error) as error:
        raise SourceNotInspectable(pattern=file, reason=str(error)) from None
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(_PARQUET):
        return SourceFormat.PARQUET
    return SourceFormat.JSONL if head.startswith(b"{") else SourceFormat.CSV


# Column names of the proposed dataset.


def _declared_names(found: Sequence[str], file: str) -> list[str]:
    """The names in the files; names with a blank or ``#`` are cleaned, as in a run."""
    names = [clean_column(name) if {" ", "#"} & set(name) else name for name in found]
    for at, name in enumerate(names):
        if name in names[:at]:
            twin = found[names.index(name)]
            reason = f"columns {twin!r} and {found[at]!r} would both be named {name!r}"
            raise SourceNotInspectable(pattern=file, reason=reason)
    return names


# JSON Lines files as texts; numbers keep their exact digits.

_CHUNK = 20_000
_CODEC = "utf-8"
_OFFERED = {
    "text": ("date", "local", "moment"),
    "number": NUMBERS,
    "boolean": ("boolean",),
    "nested": (),
}
"""A JSON value is a number only if it is written as one; mixed kinds become a string."""


class _Number(str):
    """The digits of a number in a file."""

    __slots__ = ()


class _Nested(str):
    """An object or array as it is written in a file."""

    __slots__ = ()


_DECODER = strict_decoder(_Number)


class _Columns:
    """Columns in order of first appearance, with the kinds of their values."""

    def __init__(self) -> None:
        self.kinds: dict[str, set[str]] = {}

    def take(self, objects: Sequence[dict[str, Any]]) -> list[list[str | None]]:
        for one in objects:
            for name, value in one.items():
                self.kinds.setdefault(name, set()).update(_kind(value))
        return [[_text(one.get(name)) for one in objects] for name in self.kinds]

    def offered(self) -> dict[int, tuple[str, ...]]:
        kinds = enumerate(self.kinds.values())
        return {at: _OFFERED[next(iter(of))] if len(of) == 1 else () for at, of in kinds}


def _inspect_json(files: Sequence[str], rows: SampleRows, limits: Limits) -> TextTable:
    columns, whole = _Columns(), True
    for file in files:
        try:
            whole = _take(file, columns, rows, limits) and whole
        except (TextProblem, OSError) as problem:
            raise SourceNotInspectable(pattern=file, reason=str(problem)) from None
    names = tuple(columns.kinds)
    if not names:
        raise SourceNotInspectable(pattern=files[0], reason="no object has a key")
    if problem_text := name_problem(names):
        raise SourceNotInspectable(pattern=files[0], reason=problem_text)
    return TextTable(names, whole, offered=columns.offered())


def _take(file: str, columns: _Columns, rows: SampleRows, limits: Limits) -> bool:
    """Whether the file ended before the limit."""
    taken = 0
    with json_lines(file, _CODEC) as lines:
        numbered = ((at, line) for at, line in enumerate(lines, 1) if line.strip(BLANKS))
        while chunk := list(islice(numbered, min(_CHUNK, limits.rows - taken))):
            table = columns.take([_object(file, at, line) for at, line in chunk])
            if table:
                rows.add_texts(table)
            taken += len(chunk)
        return next(numbered, None) is None


def _object(file: str, at: int, line: str) -> dict[str, Any]:
    """Parses as a run does, so that a line that a run would refuse is refused here."""
    try:
        found = read_object(line, _CODEC, _DECODER)
        nested = any(isinstance(value, dict | list) for value in found.values())
        return {**found, **_written(line)} if nested else found
    except (ValueError, RecursionError) as error:
        reason = f"line {at}: {fault_reason(error)}; write each row as an object on its own line"
        raise SourceNotInspectable(pattern=file, reason=reason) from None


def _written(line: str) -> dict[str, _Nested]:
    return {key: _Nested(text) for key, text in nested_texts(line).items()}


def _kind(value: Any) -> set[str]:
    match value:
        case None:
            return set()
        case bool():
            return {"boolean"}
        case _Number():
            return {"number"}
        case _Nested():
            return {"nested"}
        case str():
            return {"text"}
    raise ValueError(f"unexpected {type(value).__name__}")


def _text(value: Any) -> str | None:
    """As a run reads it: numbers, objects and arrays as they are written."""
    return str(value).lower() if isinstance(value, bool) else value
