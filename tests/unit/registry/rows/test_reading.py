"""File extensions, size limits, and no secrets in messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.rows import read_rows, row_files, source_text
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.errors import InvalidDefinitions
from tests.unit.registry.rows.row_files import good, mistakes, plain, read

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL3o"


def test_files_are_read_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "a.JSON").write_text('[{"x": 1}]')
    (tmp_path / "c.sql").write_text("INSERT INTO d (x) VALUES (1)")
    (tmp_path / "e.jsonl").write_text('{"x": 1}\n')
    findings = Findings()
    rows = read_rows([tmp_path / n for n in ("b.csv", "a.JSON", "c.sql", "e.jsonl")], findings)
    findings.raise_if_any()
    assert [table for table, _ in plain(rows)] == ["b", "a", "d", "e"]


def test_the_mistakes_of_all_files_are_raised_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1\n")
    (tmp_path / "b.sql").write_text("DROP TABLE t")
    (tmp_path / "c.csv").write_text("x,y\n1,2\n")
    findings = Findings()
    rows = read_rows([tmp_path / name for name in ("a.csv", "b.sql", "c.csv")], findings)
    assert [row.table for row in rows] == ["c"]
    with pytest.raises(InvalidDefinitions) as raised:
        findings.raise_if_any()
    assert [error.code for error in raised.value.errors] == ["LG-2025", "LG-2027"]


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", ".csv", "rows.csv.gz", "rows.yaml"])
def test_another_ending_is_refused(name: str) -> None:
    assert mistakes(name, "a\n1\n") == [
        f"1:1 LG-2022 {name!r} is not a rows file; use .csv, .json, .jsonl or .sql"
    ]


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    findings = Findings()
    assert read_rows([tmp_path / "none.csv", tmp_path / "folder.csv"], findings) == []
    assert [error.code for error in findings.errors()] == ["LG-2007", "LG-2007"]


def test_a_name_that_no_system_takes_is_told(tmp_path: Path) -> None:
    findings = Findings()
    assert read_rows([tmp_path / f"{'x' * 5000}.csv"], findings) == []
    assert [error.code for error in findings.errors()] == ["LG-2023"]


def test_a_large_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_text.MAX_BYTES == 64 * 1024 * 1024
    monkeypatch.setattr(source_text, "MAX_BYTES", 1024 * 1024)
    assert mistakes("t.csv", b"a\n" * 600_000) == ["1:1 LG-2024 the file is larger than 1 MB"]


@pytest.mark.parametrize(("bound", "thing"), [("MAX_ROWS", "rows"), ("MAX_VALUES", "values")])
def test_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch, bound: str, thing: str) -> None:
    monkeypatch.setattr(row_files, bound, 3)
    assert mistakes("t.csv", "a\n1\n2\n3\n4\n") == [
        f"5:1 LG-2024 the file is larger than 3 {thing}"
    ]


def test_reading_stops_after_many_mistakes() -> None:
    assert len(mistakes("t.csv", "a,b\n" + "1\n" * 1000)) == row_files.MAX_MISTAKES


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", f"{SECRET},{SECRET}\n"),
        ("t.csv", f"a;{SECRET}\n"),
        ("t.csv", f"a,b\n1,{SECRET}\n{SECRET}\n"),
        ("t.json", f'[{{"a": {SECRET}}}]'),
        ("t.json", f'[{{"{SECRET}": 1, "{SECRET}": 2}}]'),
        ("t.json", f'[{{"a": "{SECRET}" 1}}]'),
        ("t.sql", f"{SECRET};"),
        ("t.sql", f"INSERT INTO t (a) VALUES ({SECRET});"),
        ("t.sql", f"INSERT INTO t (a) VALUES ({SECRET}('x'));"),
        ("t.sql", f"INSERT INTO t (a) VALUES ('{SECRET}' || 'x');"),
        ("t.sql", f"INSERT INTO t (a) VALUES ('x' '{SECRET}');"),
        ("t.sql", f'INSERT INTO t (a) VALUES ("{SECRET}");'),
        ("t.sql", f"INSERT INTO t (a) VALUES (E'{SECRET}\\n');"),
        ("t.sql", f"INSERT INTO t ({SECRET}, {SECRET}) VALUES (1, 2);"),
        ("t.sql", f"INSERT INTO t (a) VALUES (1) {SECRET};"),
        ("t.sql", f":{SECRET}\n"),
        ("t.sql", f"USE x {SECRET};"),
        (f"{SECRET}.txt", "a"),
    ],
)
def test_no_message_shows_a_secret(name: str, content: str) -> None:
    text = " ".join(mistakes(name, content)).lower()
    assert SECRET.lower() not in text
    assert SECRET[8:].lower() not in text


def test_a_row_does_not_show_its_values() -> None:
    (row,) = good("t.csv", f"a,b\n1,{SECRET}\n")
    assert SECRET not in repr(row)
    assert row.values["b"] == SECRET


def test_rows_are_equal_by_what_they_hold() -> None:
    assert good("t.csv", "a,b\n1,x\n") == good("t.json", '[{"a": "1", "b": "x"}]')
    assert read("t.csv", "a,b\n1,x\n") != read("t.csv", "a,b\n1,y\n")
