"""Exactly the malformed records are found, wherever quoting breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from openlaketx.extract.sources.csv_dialect import CsvDialect, DialectProblem
from openlaketx.extract.sources.csv_source import csv_faults

PLAIN = CsvDialect()


def faults(folder: Path, content: str | bytes, dialect: CsvDialect = PLAIN) -> list[str]:
    file = folder / "a.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [f"{f.first}-{f.last} {f.reason}" for f in csv_faults(str(file), dialect)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n", []),
        ("", []),
        ("\n\na,b\n\n1,2\n\n", []),
        ('a,b\n"x\ny",2\n', []),
        ("a,b\n1\n1,2\n1,2,3\n", ["2-2 1 field instead of 2", "4-4 3 fields instead of 2"]),
        ('a,b\r\n"x\r\ny"\r\n1,2\r\n', ["2-3 1 field instead of 2"]),
        ('a,b\n"1"2,3\n4,5\n', ["2-2 ',' expected after '\"'"]),
        ('a,b\n1,2\n"3,4\n5,6\n7,8', ["3-3 unexpected end of data"]),
        ('a,b\n"3,4\n"5,6\n7,8\n', ["2-2 ',' expected after '\"'", "3-3 unexpected end of data"]),
        ('a,b\n1,"x\n2,"y"\n3,4\n', ["2-2 ',' expected after '\"'"]),
        (b"a,b\n1,\xff\n\xc3\xa9,2\n", ["2-2 a byte is not UTF-8"]),
        ("a,b\n  \n1,2\n", ["2-2 1 field instead of 2"]),
    ],
)
def test_faults_by_their_lines(tmp_path: Path, content: str | bytes, expected: list[str]) -> None:
    assert faults(tmp_path, content) == expected


@pytest.mark.parametrize("content", ['"a,b\n1,2\n', b"\xff,b\n1,2\n"])
def test_a_header_that_is_malformed_is_refused(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(DialectProblem, match="line 1"):
        faults(tmp_path, content)


def test_lines_of_a_character_set_have_no_odd_bytes(tmp_path: Path) -> None:
    assert faults(tmp_path, b"a,b\n1,\xff\n", CsvDialect(codec="iso8859-1")) == []
    assert faults(tmp_path, b"a,b\n1,\x81\n", CsvDialect(codec="cp1252")) == [
        "2-2 a byte is not windows-1252"
    ]
