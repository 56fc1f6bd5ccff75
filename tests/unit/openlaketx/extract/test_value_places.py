"""A value of a text file is located by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.sources.csv_dialect import CsvDialect
from openlaketx.extract.sources.value_locations import (
    Values,
    csv_values,
    json_values,
    place_of,
)


def selection(folder: Path, *names: str) -> Selection:
    files = tuple(SourceFile(path=f"in/{name}", size=1, modified_ms=1) for name in names)
    return Selection("orders", "bronze.orders", str(folder), files, SourcePosition())


def put(folder: Path, name: str, text: str) -> str:
    file = folder / "in" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file.as_uri()


CSV = 'id,Order Day,n\n1,x,1\n2,"two\nlines",x\n3,bad day,9\n'
JSON = '{"n": 1}\n\n{"other": "x", "n": 1.50}\n{"n": "x"}\n'


@pytest.mark.parametrize(
    ("text", "values", "column", "value", "line"),
    [
        (CSV, csv_values(CsvDialect()), "n", "x", ", line 3"),
        (CSV, csv_values(CsvDialect()), "order_day", "bad day", ", line 5"),
        (CSV, csv_values(CsvDialect()), "n", "nowhere", ""),
        (CSV, csv_values(CsvDialect()), "unknown", "x", ""),
        (CSV, None, "n", "x", ""),
        ('a,n\n"open', csv_values(CsvDialect()), "n", "x", ""),
        (JSON, json_values("utf-8"), "n", "1.50", ", line 3"),
        (JSON, json_values("utf-8"), "n", "x", ", line 4"),
        ("{", json_values("utf-8"), "n", "x", ""),
    ],
)
def test_the_line_is_told_where_it_can_be(
    tmp_path: Path, text: str, values: Values | None, column: str, value: str, line: str
) -> None:
    put(tmp_path, "a b.txt", "n\n7\n")
    address = put(tmp_path, "c d.txt", text)
    found = place_of(selection(tmp_path, "a b.txt", "c d.txt"), values)(address, column, value)
    assert found == f"in/c d.txt{line}"


def test_a_file_of_others_has_no_place(tmp_path: Path) -> None:
    address = put(tmp_path, "other.csv", CSV)
    find = place_of(selection(tmp_path, "mine.csv"), csv_values(CsvDialect()))
    assert find(address, "n", "x") == ""
    assert find("", "n", "x") == ""
