"""Where in the files of a source a value stands, for whoever is to correct it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.storage.storage import local_path
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.sources.csv_dialect import CsvDialect
from openlaketx.extract.sources.jsonl_lines import json_lines, read_object, strict_decoder

PlaceOf = Callable[[str, str, str], str]
"""From the address that Spark gives a file, a column and a value's text to words for all three."""
Values = Callable[[str, str], Iterator[tuple[int, str]]]
"""Of a file and a column: every value as text, with its line."""


def place_of(selection: Selection, values: Values | None = None) -> PlaceOf:
    """``in/orders.csv, line 7``; the file alone where it has no lines, or not those of its origin.

    Empty where the address is of no file of the selection.
    """

    def place(address: str, column: str, value: str) -> str:
        path = unquote(urlsplit(address).path)
        for file in selection.files:
            if local_path(selection.location(file)) == path:
                line = _line(values, path, column, value)
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
    """The first line with the value; None where the file cannot be read so far."""
    if values is None:
        return None
    try:
        return next((line for line, found in values(path, column) if found == value), None)
    except (ValueError, RecursionError, OSError):
        return None
