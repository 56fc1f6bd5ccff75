"""The fast scan of JSON Lines finds what the careful one finds, or leaves the file to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from openlaketx.extract.sources import jsonl_lines
from openlaketx.extract.sources.flat_json import Kind
from openlaketx.extract.sources.jsonl_lines import scan_json
from tests.support.examples import examples
from tests.support.strategies.json_lines import file_of, flat_lines, lines

USUAL = (('"x"', '""', "null"), ("1", "-7", "0"), ("1.5", "2", "null"), ("true", "false"))


@given(
    found=st.one_of(st.lists(lines(), max_size=4), flat_lines(USUAL)),
    end=st.sampled_from(["\n", "\n", "\r\n"]),
    last=st.booleans(),
)
@examples(2_000, quick=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_scans_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[str], end: str, last: bool
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(file_of(found, end, last=last))
    fast = scan_json(str(file), "utf-8")
    if fast.flat is None:
        return
    with monkeypatch.context() as changed:
        changed.setattr(jsonl_lines, "scan_flat", lambda path, read: None)
        careful = scan_json(str(file), "utf-8")
    assert (fast.names, fast.faults) == (careful.names, careful.faults)
    assert fast.flat.lines == len([line for line in found if line])


def scanned(folder: Path, *found: str) -> dict[str, Kind] | None:
    (folder / "a.jsonl").write_bytes(file_of(list(found)))
    flat = scan_json(str(folder / "a.jsonl"), "utf-8").flat
    return None if flat is None else flat.kinds


def test_the_kinds_of_all_lines_are_found(tmp_path: Path) -> None:
    line = '{"a": "x", "b": 1, "c": 2, "d": 1.5, "e": null}'
    other = '{"b": 1234567890123, "a": null, "d": 1e5, "c": 0.25, "e": true}'
    assert scanned(tmp_path, line, line) == {
        "a": Kind.TEXT,
        "b": Kind.SMALL,
        "c": Kind.SMALL,
        "d": Kind.SHORT,
        "e": Kind.EMPTY,
    }
    assert scanned(tmp_path, *[line] * 30_000, other, line) == {
        "a": Kind.TEXT,
        "b": Kind.WHOLE,
        "c": Kind.SHORT,
        "d": Kind.NUMBER,
        "e": Kind.BOOLEAN,
    }
    assert scanned(tmp_path, line, line.replace('"x"', "5")) == {
        **dict(scanned(tmp_path, line) or {}),
        "a": Kind.MIXED,
    }


@pytest.mark.parametrize(
    "line",
    [
        '{"a": -0}',
        '{"a": [1]}',
        '{"a": 1, "a": 2}',
        '{"a": "\\u00e9"}',
        '{"a": NaN}',
        '{"a": "x',
        '{"a" : 1}',
        "",
        "[]",
        "{}",
    ],
)
def test_other_lines_are_left_to_the_careful_scan(tmp_path: Path, line: str) -> None:
    assert scanned(tmp_path, '{"a": 1}', line, '{"a": 1}') is None


def test_many_orders_of_keys_are_left_to_the_careful_scan(tmp_path: Path) -> None:
    many = [json.dumps({f"k{number}": 1}) for number in range(17)]
    assert scanned(tmp_path, *many[:16]) is not None
    assert scanned(tmp_path, *many) is None
