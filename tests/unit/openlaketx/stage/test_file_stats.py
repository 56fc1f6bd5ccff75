"""File statistics contain what the footer proves, and nothing more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.stage.file_stats import PREFIX, delta_stats, upper_prefix
from tests.property.measure.staging import write_rows


def stats(folder: Path, data_type: str, values: list[Any]) -> dict[str, Any]:
    schema = TableSchema(columns=(Column(name="x", type=data_type),))
    file = folder / "a.parquet"
    write_rows(file, [{"x": value} for value in values], schema)
    text = delta_stats(pq.read_metadata(file), schema)
    reported: dict[str, Any] = json.loads(text, parse_float=str)
    return {"text": text, **reported}


@pytest.mark.parametrize(
    ("data_type", "values", "low", "high"),
    [
        ("byte", [3, None, -128], -128, 3),
        ("long", [2**63 - 1, -(2**63)], -(2**63), 2**63 - 1),
        ("double", [1.5, -2.0], "-2.0", "1.5"),
        ("decimal(9,2)", [pa.scalar("1.50").cast(pa.decimal128(9, 2)).as_py()], "1.50", "1.50"),
        ("date", [-719_162, 2_932_896], "0001-01-01", "9999-12-31"),
        (
            "timestamp",
            [-62_135_596_800_000_000, 1],
            "0001-01-01T00:00:00.000000Z",
            "1970-01-01T00:00:00.000001Z",
        ),
        ("timestamp_ntz", [0], "1970-01-01T00:00:00.000000", "1970-01-01T00:00:00.000000"),
        ("string", ["b", "é", "a"], "a", "é"),
    ],
)
def test_bounds(tmp_path: Path, data_type: str, values: list[Any], low: Any, high: Any) -> None:
    reported = stats(tmp_path, data_type, values)
    assert reported["numRecords"] == len(values)
    assert reported["minValues"] == {"x": low}
    assert reported["maxValues"] == {"x": high}
    assert reported["nullCount"] == {"x": values.count(None)}


@pytest.mark.parametrize(
    ("data_type", "values"),
    [
        ("boolean", [True, False]),
        ("binary", [b"a"]),
        ("double", [float("inf"), 1.0]),
        ("double", [float("nan")] * 3 + [1.0, 2.0]),
        ("double", [1.0, 2.0, 3.0] + [float("nan")] * 2),
        ("long", [None, None]),
        ("timestamp", [400_000_000_000_000_000]),
        ("date", [3_000_000]),
    ],
)
def test_what_cannot_be_told_is_left_out(tmp_path: Path, data_type: str, values: list[Any]) -> None:
    reported = stats(tmp_path, data_type, values)
    assert reported["minValues"] == {}
    assert reported["maxValues"] == {}
    assert reported["nullCount"] == {"x": values.count(None)}


def test_a_column_that_nobody_may_know_has_its_nulls_counted_alone(tmp_path: Path) -> None:
    schema = TableSchema(columns=(Column(name="x", type="string"), Column(name="n", type="long")))
    write_rows(tmp_path / "a.parquet", [{"x": "a", "n": 1}, {"x": None, "n": 2}], schema)
    footer = pq.read_metadata(tmp_path / "a.parquet")
    assert json.loads(delta_stats(footer, schema, redacted_statistics=("x",))) == {
        "numRecords": 2,
        "minValues": {"n": 1},
        "maxValues": {"n": 2},
        "nullCount": {"x": 1, "n": 0},
    }


def test_decimals_are_bare_numbers(tmp_path: Path) -> None:
    value = pa.scalar("-0.05").cast(pa.decimal128(38, 18)).as_py()
    text = stats(tmp_path, "decimal(38,18)", [value])["text"]
    assert '"x":-0.050000000000000000' in text


def test_long_texts_are_cut_and_the_upper_one_padded(tmp_path: Path) -> None:
    reported = stats(tmp_path, "string", ["a" * 40, "z" * 40])
    assert reported["minValues"]["x"] == "a" * PREFIX
    assert reported["maxValues"]["x"] == "z" * PREFIX + "\U0010ffff"


@pytest.mark.parametrize(
    "text",
    ["", "a" * PREFIX, "a" * 50, "\U0010ffff" * 40, "a" * PREFIX + "\U0010ffff\U0010ffffb"],
)
def test_the_padded_text_is_never_below_the_true_one(text: str) -> None:
    assert upper_prefix(text) >= text


def test_a_string_that_is_not_text_has_no_bounds(tmp_path: Path) -> None:
    raw = pa.array([b"a", b"\xff\xfe"], pa.binary())
    text = pa.StringArray.from_buffers(2, *raw.buffers()[1:])
    pq.write_table(pa.table({"x": text}), tmp_path / "a.parquet")
    schema = TableSchema(columns=(Column(name="x", type="string"),))
    document = json.loads(delta_stats(pq.read_metadata(tmp_path / "a.parquet"), schema))
    assert (document["minValues"], document["nullCount"]) == ({}, {"x": 0})


def test_a_footer_without_statistics_tells_only_rows(tmp_path: Path) -> None:
    schema = TableSchema(columns=(Column(name="x", type="long"),))
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet", write_statistics=False)
    document = json.loads(delta_stats(pq.read_metadata(tmp_path / "a.parquet"), schema))
    assert document == {"numRecords": 2, "minValues": {}, "maxValues": {}, "nullCount": {}}
