"""The partition of a file is proven by its footer, whatever its folder name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.stage.candidate import Candidate, collect
from tests.property.measure.staging import arrow_type

TYPES = {"s": "string", "i": "integer", "l": "long", "d": "date", "b": "boolean", "n": "long"}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "run_1"
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    return folder


def write(run: Path, folder: str, rows: list[dict[str, Any]]) -> None:
    columns = {}
    for name, kind in TYPES.items():
        values = [row.get(name) for row in rows]
        raw = pa.array(values, pa.int32()).cast(pa.date32()) if kind == "date" else None
        columns[name] = pa.array(values, arrow_type(kind)) if raw is None else raw
    (run / folder).mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), run / folder / "part-0.parquet", row_group_size=2)


def collected(run: Path, *by: str) -> Candidate:
    return collect(str(run.parents[1]), "runs/run_1", SCHEMA, "silver.t", LocalStorage(), by)


def test_values_of_every_type_and_null(run: Path) -> None:
    values = {"s": "a/b=%41 é", "i": -1, "l": 2**63 - 1, "d": -719_162, "b": False}
    write(run, "lg_partition=1", [{**values, "n": 1}] * 5)
    write(run, "lg_partition=2", [{"n": None}] * 3)
    one, two = collected(run, "s", "i", "l", "d", "b").files
    assert one.path == "runs/run_1/lg_partition=1/part-0.parquet"
    assert one.partition == {
        "s": "a/b=%41 é",
        "i": "-1",
        "l": "9223372036854775807",
        "d": "0001-01-01",
        "b": "false",
    }
    assert two.partition == dict.fromkeys(["s", "i", "l", "d", "b"])
    assert json.loads(one.stats)["nullCount"] == {"n": 0}, "the log has the other columns' values"


@pytest.mark.parametrize(
    ("rows", "about"),
    [
        ([{"s": "a"}, {"s": "a"}, {"s": "b"}], "several values of s"),
        ([{"s": "a"}, {"s": None}], "several values of s"),
        ([{"s": "a"}, {"s": "a"}, {"s": None}, {"s": None}], "several values of s"),
        ([{"s": ""}], "an empty string"),
    ],
)
def test_rows_that_are_of_no_one_partition_are_refused(
    run: Path, rows: list[dict[str, Any]], about: str
) -> None:
    write(run, "lg_partition=1", rows)
    with pytest.raises(StagingFailed, match=about):
        collected(run, "s")


def test_a_value_that_the_footer_does_not_tell_is_refused(run: Path) -> None:
    write(run, "lg_partition=1", [{"s": "x"}])
    file = run / "lg_partition=1" / "part-0.parquet"
    pq.write_table(pq.read_table(file, partitioning=None), file, write_statistics=False)
    with pytest.raises(StagingFailed, match="too long"):
        collected(run, "s")


@pytest.mark.parametrize(
    ("folder", "by"), [("lg_partition=1", ()), (".", ("s",)), ("_temporary", ("s",))]
)
def test_a_file_that_lies_elsewhere_was_left_by_a_broken_write(
    run: Path, folder: str, by: tuple[str, ...]
) -> None:
    write(run, folder, [{"s": "x"}])
    with pytest.raises(StagingFailed, match="broken write"):
        collected(run, *by)
