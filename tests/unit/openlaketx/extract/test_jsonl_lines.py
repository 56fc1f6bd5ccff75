"""Lines that are not JSON objects are found by number, and all keys before Spark reads."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from openlaketx.extract.files.text_files import LONGEST_LINE, TextProblem
from openlaketx.extract.sources.jsonl_lines import JsonScan, nested_texts, scan_json


def look(folder: Path, *lines: str | bytes) -> JsonScan:
    parts = [line if isinstance(line, bytes) else line.encode() for line in lines]
    (folder / "a.jsonl").write_bytes(b"\n".join(parts))
    return scan_json(str(folder / "a.jsonl"), "utf-8")


def test_keys_are_those_of_all_lines_in_their_order(tmp_path: Path) -> None:
    found = look(
        tmp_path, '{"b": 1, "a": {"x": 2}}', "", "  \t\r", '{"c": [1.0], "b": null}\r', "{}"
    )
    assert found == JsonScan(("b", "a", "c"), [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "not a JSON object"),
        ('[{"a": 1}]', "not a JSON object"),
        ("1", "not a JSON object"),
        ("null", "not a JSON object"),
        ('"{}"', "not a JSON object"),
        ("{", "Expecting property name enclosed in double quotes at character 2"),
        ('{"a": 1} {"a": 2}', "Extra data at character 10"),
        ('{"a": 1,}', "at character"),
        ("{'a': 1}", "Expecting property name"),
        ('{"a": 01}', "at character"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        ('{"a": -Infinity}', "-Infinity is not valid JSON"),
        ('{"a": 1, "a": 1}', "duplicate key 'a'"),
        ('{"x": {"a": 1, "b": 2, "a": 1}}', "duplicate key 'a'"),
        ('{"a": "\\ud800"}', "incomplete surrogate pair"),
        ('{"a": {"b": ["\\udc00"]}}', "incomplete surrogate pair"),
        (b'{"a": "\xff"}', "a byte is not UTF-8"),
        ('{"a": "\x01"}', "Invalid control character"),
        ("\ufeff{}", "Expecting value at character 1"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_line_that_is_no_object_is_a_fault(
    tmp_path: Path, line: str | bytes, reason: str
) -> None:
    found = look(tmp_path, '{"k": 1}', line, '{"k": 2}')
    assert found.names == ("k",)
    assert [(fault.first, fault.last) for fault in found.faults] == [(2, 2)]
    assert reason in found.faults[0].reason


def test_what_is_whole_is_no_fault(tmp_path: Path) -> None:
    number = "9" * 10_000
    found = look(tmp_path, '{"a": "\\ud83d\\ude00 é"}', f'{{"a": {number}}}', '{"a": 1e999}')
    assert found == JsonScan(("a",), [])


def test_a_packed_file_is_read_whole_or_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a": 1}\n' * 99)
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    assert scan_json(str(tmp_path / "a.jsonl.gz"), "utf-8").names == ("a",)
    (tmp_path / "a.jsonl.gz").write_bytes(packed[:-4])
    with pytest.raises(TextProblem, match="truncated gzip file"):
        scan_json(str(tmp_path / "a.jsonl.gz"), "utf-8")


@pytest.mark.parametrize("start", [b"", b'{"a": 1}\n{"a": "'])
def test_a_small_file_of_one_endless_line_is_refused(tmp_path: Path, start: bytes) -> None:
    """Before all of the line is in memory."""
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(start + b"x" * (LONGEST_LINE + 1), 1))
    with pytest.raises(TextProblem, match="a line has more than 67,108,864 characters"):
        scan_json(str(file), "utf-8")


def test_nested_values_keep_the_text_of_the_line() -> None:
    line = ' {"a" : {"x" : 1.0,  "y":[1, 2.50]}, "b": [ ] ,"c\\u00e9":"{}", "d": -1e3,"e":{}} \r\n'
    assert nested_texts(line) == {"a": '{"x" : 1.0,  "y":[1, 2.50]}', "b": "[ ]", "e": "{}"}
    assert nested_texts("{ }") == {}
