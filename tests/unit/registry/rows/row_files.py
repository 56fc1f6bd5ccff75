"""Writes and reads row files for tests."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard.registry.rows import Row, Value, read_rows
from lakeguard.registry.text.problems import Findings

Plain = tuple[str, dict[str, Value]]


def read(name: str, content: str | bytes) -> tuple[list[Row], list[str]]:
    """The rows of one file, and its mistakes as ``line:column code words``."""
    data = content if isinstance(content, bytes) else content.encode()
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        findings = Findings()
        rows = read_rows([path], findings)
    described = [f"{e.place.line}:{e.place.column} {e.code} {e}" for e in findings.errors()]
    return rows, described


def good(name: str, content: str | bytes) -> list[Row]:
    rows, reported = read(name, content)
    assert reported == []
    return rows


def mistakes(name: str, content: str | bytes) -> list[str]:
    """Nothing of a file with a mistake is taken."""
    rows, reported = read(name, content)
    assert rows == []
    assert reported
    return reported


def plain(rows: list[Row]) -> list[Plain]:
    return [(row.table, dict(row.values)) for row in rows]


def typed(rows: list[Plain]) -> list[tuple[str, list[tuple[str, str, Value]]]]:
    """For comparing: ``True`` is not 1, and columns have an order."""
    return [
        (table, [(name, type(value).__name__, value) for name, value in values.items()])
        for table, values in rows
    ]


def at(row: Row, column: str) -> tuple[int, int, int]:
    place = row.place_of(column)
    return place.line, place.column, place.length
