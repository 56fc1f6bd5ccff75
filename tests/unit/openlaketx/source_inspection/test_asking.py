"""Profiles and measures of rows that were looked at: as a run would load them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from lakeguard.gate.rules.compile import compile_text
from lakeguard_sdk.expressions.measures import Measure, MeasureValue, measure_key
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.model.source_preview import SourcePreview
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.source_inspection import inspect_source


class Asking:
    """Asks rules of every column, and remembers which measure counts the failing rows of each."""

    def __init__(self, *rules: str) -> None:
        self.rules = rules
        self.counted: dict[str, str] = {}

    def __call__(self, sketch: SourcePreview) -> Sequence[Measure]:
        schema = TableSchema(
            columns=tuple(Column(name=c.name, type=c.type) for c in sketch.columns)
        )
        asked: list[Measure] = []
        for rule in self.rules:
            measures = compile_text(rule, schema).measures
            self.counted[rule] = measure_key(measures[0])
            asked += measures
        return asked

    def failed(self, sketch: SourcePreview) -> list[MeasureValue]:
        assert sketch.unmeasured == {}
        return [sketch.measured[self.counted[rule]] for rule in self.rules]


def profiles(sketch: SourcePreview) -> dict[str, ColumnProfile]:
    return {column.name: column.profile for column in sketch.columns if column.profile}


def test_texts_count_as_the_values_that_they_spell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "id,n,price,day,at,note\n"
        '1,NA,1.50,2026-01-05,2026-01-05T08:00:00Z,""\n'
        "2,7,20.25,NA,2026-01-05T10:30:00+02:00,NA\n"
        "3,10,3,2026-02-01,,it's\n"
    )
    asking = Asking(
        *("range(n, min=8)", "ge(price, value=3)", "range(day, max='2026-01-31')"),
        *("range(at, min='2026-01-05T08:30:00Z')", "length(note, min=1)", "not_null(note)"),
        "unique(id)",
    )
    found = inspect_source("a.csv", str(tmp_path), ask=asking)
    assert found.options == {"null_value": "NA"}
    assert asking.failed(found) == [1, 1, 1, 1, 1, 1, 0]
    reported = profiles(found)
    assert (reported["n"].least, reported["n"].greatest, reported["n"].nulls) == (7, 10, 1)
    assert (reported["price"].least, reported["price"].greatest) == ("1.50", "20.25")
    assert reported["at"].greatest == "2026-01-05T08:30:00.000000Z"
    assert reported["note"].lengths == (0, 4, 2.0)
    assert {item.value for item in reported["note"].top} == {"", "it's"}


def test_a_mark_for_null_may_hold_a_quote(tmp_path: Path) -> None:
    rows = [{"id": n, "s": "x'y" if n else None} for n in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asking = Asking("not_null(s)", "in_set(s, values=['x''y'])")
    assert asking.failed(inspect_source("a.jsonl", str(tmp_path), ask=asking)) == [1, 0]


def test_files_that_have_types_and_values_in_values(tmp_path: Path) -> None:
    table = pa.table(
        {
            'odd "name"': pa.array([1.5, float("nan"), None], pa.float32()),
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
            "raw": pa.array([b"x", b"", None], pa.binary()),
            "local": pa.array([1, 2, 3], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    name = '`odd_"name"`'
    asking = Asking(f"not_null({name})", f"range({name}, min=0)", "not_null(tags)", "not_null(raw)")
    found = inspect_source("a.parquet", str(tmp_path), ask=asking)
    names = {column.found_as: column.name for column in found.columns}
    assert asking.failed(found) == [1, 1, 1, 1]
    reported = profiles(found)
    assert (reported["tags"].nulls, reported["tags"].top) == (1, ())
    assert reported["local"].greatest == "1970-01-01T00:00:00.000003"
    assert set(reported) == set(names.values())


@pytest.mark.parametrize("whole", [True, False])
def test_partitions_of_a_table(tmp_path: Path, whole: bool) -> None:
    """Files do not hold them: a look at the whole table asks its log, another leaves them out."""
    place = tmp_path / "t"
    rows = pa.table({"id": [1, 2, 3, 4], "country": ["DE", "DE", "F R", None]})
    write_deltalake(place, rows, partition_by=["country"])
    asking = Asking("unique(id)", *(["not_null(country)"] if whole else []))
    found = inspect_source(str(place), str(tmp_path), whole=whole, ask=asking)
    assert asking.failed(found) == [0, *([1] if whole else [])]
    reported = profiles(found)
    assert ("country" in reported) is whole
    if whole:
        assert {item.value: item.rows for item in reported["country"].top} == {"DE": 2, "F R": 1}


def test_without_a_row_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")

    def never(sketch: SourcePreview) -> Sequence[Measure]:
        raise AssertionError(sketch)

    assert profiles(inspect_source("a.csv", str(tmp_path), ask=never)) == {}


def test_who_asks_nothing_is_told_no_more_than_before(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    reported = inspect_source("a.csv", str(tmp_path)).to_data()
    assert set(reported["columns"][0]) == {"name", "type", "found_as", "nulls"}
    assert not {"measured", "unmeasured"} & set(reported)
