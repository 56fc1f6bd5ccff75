"""Finds the file and line of a value in a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.storage.storage import table_uri
from openlaketx.engine.locations import location_of, spark_name
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.sources.csv_dialect import CsvDialect
from openlaketx.extract.sources.jsonl_lines import json_lines, read_object, strict_decoder

PlaceOf = Callable[[str, str, str], str]
"""File path reported by Spark, column and text of the value, to a location."""
Values = Callable[[str, str], Iterator[tuple[int, str]]]
"""All values of a column of a file as text, with their lines."""


def place_of(selection: Selection, values: Values | None = None) -> PlaceOf:
    """``in/orders.csv, line 7``; only the file if it has no lines, or is a copy without some.

    Empty if the path is not in the selection.
    """

    def place(address: str, column: str, value: str) -> str:
        found = location_of(address)
        for file in selection.files:
            if location_of(spark_name(selection.spark_location(file))) == found:
                line = _line(values, table_uri(selection.location(file)), column, value)
                return f"{file.path}, line {line}" if line else file.path
        return ""

    return place


def csv_values(dialect: CsvDialect) -> Values:
    def values(path: str, column: str) -> Iterator[tuple[int, str]]:
        records = dialect.records(path)
        _, header = next(records, (0, []))
        for at, name in enumerate(header):
            if column in (name, clean_column(name)):
                yield from ((line, record[at]) for line, record in records if at < len(record))

    return values


def json_values(codec: str) -> Values:
    decoder = strict_decoder(str)

    def values(path: str, column: str) -> Iterator[tuple[int, str]]:
        with json_lines(path, codec) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield from (
                        (number, value)
                        for name, value in read_object(line, codec, decoder).items()
                        if column in (name, clean_column(name)) and isinstance(value, str)
                    )

    return values


def _line(values: Values | None, path: str, column: str, value: str) -> int | None:
    """The first line with the value; None if it is not found or the file is unreadable."""
    if values is None:
        return None
    try:
        return next((line for line, found in values(path, column) if found == value), None)
    except (ValueError, RecursionError, OSError):
        return None
