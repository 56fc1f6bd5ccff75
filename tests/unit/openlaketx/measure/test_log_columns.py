"""Files that leave columns to the log: what it says is what every row of them has."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.measure.duckdb_columns import rows_with_log_columns

SCHEMA = TableSchema(
    columns=(
        Column(name="n", type="long"),
        Column(name="p", type="string"),
        Column(name="day", type="date"),
        Column(name="new", type="float"),
    )
)
Found = list[tuple[object, ...]]


def rows(root: Path, *paths: str, **lacking: dict[str, str | None]) -> Found:
    given = {path.replace("__", "/"): values for path, values in lacking.items()}
    origin, parameters = rows_with_log_columns(str(root), SCHEMA, paths, given)
    with duckdb_reader() as reader:
        (batch,) = reader.batches(f"SELECT * FROM {origin} ORDER BY n", parameters, 100)
    assert batch.schema.field("new").type == pa.float32()
    return [tuple(row.values()) for row in batch.to_pylist()]


def write(root: Path, path: str, **columns: list[object]) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), root / path)


@pytest.mark.parametrize("text", ["a'b", 'a"b', "a/b=c %41", "ü \\ [x]*?", None])
def test_every_text_is_told_as_the_log_has_it(tmp_path: Path, text: str | None) -> None:
    write(tmp_path, "a", n=[1, 2])
    assert rows(tmp_path, "a", a={"p": text, "day": "2026-01-31"}) == [
        (1, text, date(2026, 1, 31), None),
        (2, text, date(2026, 1, 31), None),
    ]


def test_files_of_both_kinds_stand_side_by_side(tmp_path: Path) -> None:
    write(tmp_path, "runs/r/b", n=[2], p=["own"], day=[None], new=pa.array([1.5], pa.float32()))
    write(tmp_path, "a", n=[1])
    write(tmp_path, "c", n=[3])
    reported = rows(
        tmp_path, "a", "runs/r/b", "c", a={"p": "x", "day": None}, c={"p": "y", "day": None}
    )
    assert reported == [(1, "x", None, None), (2, "own", None, 1.5), (3, "y", None, None)]


def test_the_log_is_right_where_a_file_has_the_column_too(tmp_path: Path) -> None:
    write(tmp_path, "a", n=[1], p=["wrong"])
    assert rows(tmp_path, "a", a={"p": "right", "day": None}) == [(1, "right", None, None)]


def test_a_name_that_looks_like_a_pattern_is_that_file_alone(tmp_path: Path) -> None:
    write(tmp_path, "[a]*", n=[1])
    write(tmp_path, "a1", n=[2])
    origin, parameters = rows_with_log_columns(
        str(tmp_path), SCHEMA, ["[a]*"], {"[a]*": {"p": "x", "day": None}}
    )
    with duckdb_reader() as reader:
        assert reader.row(f"SELECT n, p FROM {origin}", parameters) == (1, "x")
