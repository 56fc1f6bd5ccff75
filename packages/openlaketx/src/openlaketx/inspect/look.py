"""The way in: a pattern becomes a sketch of what its files hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lakeguard_sdk.errors import NothingToLookAt
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.sketch import SketchColumn, SourceSketch
from lakeguard_sdk.storage import local_path
from lakeguard_sdk.words import SourceFormat
from openlaketx.extract.manifest import matching
from openlaketx.inspect.asking import Ask, asked_of_seen
from openlaketx.inspect.csv_files import look_at_csv
from openlaketx.inspect.formats import format_of
from openlaketx.inspect.json_files import look_at_json
from openlaketx.inspect.keys import KeyColumn, find_keys
from openlaketx.inspect.limits import LIMITS, Limits
from openlaketx.inspect.naming import declared_names
from openlaketx.inspect.seen_columns import SeenColumn
from openlaketx.inspect.seen_rows import SeenRows, seen_rows
from openlaketx.inspect.table_files import delta_files, parquet_schema, take_rows
from openlaketx.inspect.whole_table import look_at_whole


@dataclass(frozen=True)
class Files:
    """The files to look at, of all that are ``there``."""

    format: SourceFormat
    chosen: list[str]
    there: int


@dataclass(frozen=True)
class Found:
    """The columns of the files, and where each stands among the rows seen, if it does."""

    names: Sequence[str]
    types: Sequence[str]
    nulls: Sequence[int]
    places: Sequence[int | None]
    whole: bool
    options: dict[str, str] = field(default_factory=dict)
    null_mark: str | None = None
    """What stands for NULL in texts, empty where nothing does; None where files have types."""


def look(
    pattern: str,
    root: str,
    limits: Limits = LIMITS,
    *,
    whole: bool = False,
    ask: Ask | None = None,
) -> SourceSketch:
    """What the files of the pattern hold, as far as the limits let it be seen.

    A relative pattern is below ``root``. ``NothingToLookAt`` names the file that no source of one
    format could have. ``whole`` looks at every row of a Delta table. With ``ask`` the columns are
    profiled too, and what it asks for is measured of the rows seen.
    """
    place = Path(local_path(root), pattern)
    with seen_rows() as rows:
        if whole:
            return look_at_whole(str(place), rows, ask)
        if (place / "_delta_log").is_dir():
            table = delta_files(str(place))
            chosen = list(table.files[: limits.files])
            files = Files(SourceFormat.DELTA, chosen, len(table.files))
            return _sketch(files, _typed(files, table.schema, rows, limits), rows, ask)
        files = _files(pattern, root, limits)
        if files.format is SourceFormat.PARQUET:
            found = _typed(files, parquet_schema(files.chosen), rows, limits)
        else:
            found = _texts(files, rows, limits)
        return _sketch(files, found, rows, ask)


def _files(pattern: str, root: str, limits: Limits) -> Files:
    if Path(local_path(root), pattern).is_dir():
        reason = "it is a folder; name the files in it, such as *.csv"
        raise NothingToLookAt(pattern=pattern, reason=reason)
    there = [str(Path(local_path(root), path)) for path in matching(pattern, root)]
    if not there:
        raise NothingToLookAt(pattern=pattern, reason="no file matches")
    formats = [format_of(file) for file in there]
    for file, kind in zip(there, formats, strict=True):
        if kind is not formats[0]:
            reason = f"{file} is {kind}, and {there[0]} is {formats[0]}"
            raise NothingToLookAt(pattern=pattern, reason=reason)
    return Files(formats[0], there[: limits.files], len(there))


def _texts(files: Files, rows: SeenRows, limits: Limits) -> Found:
    csv = files.format is SourceFormat.CSV
    table = (look_at_csv if csv else look_at_json)(files.chosen, rows, limits)
    facts, options = table.facts(rows), dict(table.options)
    if csv and (null_value := table.null_mark(rows, facts)):
        options["null_value"] = null_value
        facts = table.facts(rows, null_value)
    return Found(
        names=table.names,
        types=[said.type for said in facts],
        nulls=table.nulls(rows, facts),
        places=range(len(table.names)),
        whole=table.whole,
        options=options,
        null_mark=options.get("null_value", ""),
    )


def _typed(files: Files, schema: TableSchema, rows: SeenRows, limits: Limits) -> Found:
    """A column that stands in no file, as partitions of a table do, is not asked about."""
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


def _nulls(rows: SeenRows, width: int) -> list[int]:
    if not width:
        return []
    asked = ", ".join(f"count(*) - count(c{index:d})" for index in range(width))
    return [int(count) for count in rows.ask(f"SELECT {asked} FROM seen")[0]]  # noqa: S608


def _sketch(files: Files, found: Found, rows: SeenRows, ask: Ask | None) -> SourceSketch:
    names = declared_names(found.names, files.chosen[0] if files.chosen else "the table")
    columns = [
        SketchColumn(name=name, type=data_type, found_as=raw, nulls=nulls)
        for name, data_type, raw, nulls in zip(
            names, found.types, found.names, found.nulls, strict=True
        )
    ]
    filled = [
        KeyColumn(place, column.name, column.type)
        for place, column in zip(found.places, columns, strict=True)
        if place is not None and not column.nulls
    ]
    sketch = SourceSketch(
        format=files.format,
        options=found.options,
        columns=tuple(columns),
        keys=find_keys(rows, filled),
        files=len(files.chosen),
        files_found=files.there,
        rows=rows.count,
        bytes=sum(Path(file).stat().st_size for file in files.chosen),
        whole=found.whole and len(files.chosen) == files.there,
    )
    seen = [
        SeenColumn(place, column.name, column.type, column.nulls, found.null_mark)
        for place, column in zip(found.places, columns, strict=True)
        if place is not None
    ]
    if ask is None or not seen or not rows.count:
        return sketch
    return asked_of_seen(sketch, rows, seen, ask)
