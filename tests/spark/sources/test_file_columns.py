"""Files of one batch with different columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import RunStatus, SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract import Batch, extract
from tests.support.lakes.plans import parquet, plan, schema
from tests.support.projects.csv_files import COLUMNS, JANUARY, CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
JSONL = SourceBuild(source="orders", format=SourceFormat.JSONL, path="in/*")
GROWN = {**COLUMNS, "extra": "string"}


def read(session: SparkSession, lake: Path, build: SourceBuild, **changed: Any) -> Batch:
    made = plan(lake, build, schema(a="long", b="string"), **changed)
    batch = extract(made, lambda: session, str(lake), LocalStorage())
    assert batch is not None
    return batch


def rows(batch: Batch) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in batch.frame.collect()), key=str)


def write_table(lake: Path, name: str, **columns: list[Any]) -> None:
    (lake / "in").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), lake / "in" / f"{name}.parquet")


def write_lines(lake: Path, name: str, *lines: str) -> None:
    (lake / "in").mkdir(parents=True, exist_ok=True)
    (lake / "in" / name).write_text("".join(f"{line}\n" for line in lines))


def test_parquet_files_are_read_by_name(session: SparkSession, tmp_path: Path) -> None:
    write_table(tmp_path, "x", a=[1], b=["one"])
    write_table(tmp_path, "y", b=["two"], c=[0.5], a=[2])
    write_table(tmp_path, "z", a=[3])
    batch = read(session, tmp_path, parquet())
    assert batch.live.names == ("a", "b", "c")
    assert rows(batch) == [(1, "one", None), (2, "two", 0.5), (3, None, None)]


@pytest.mark.parametrize(
    ("second", "required", "about"),
    [
        ({"a": [1]}, ("b",), "in/y.parquet has no column 'b', which in/x.parquet has"),
        ({"a": [1], "bb": ["x"]}, (), "but has the undeclared column 'bb'"),
        ({"a": ["1"], "b": ["x"]}, (), "column 'a' of in/y.parquet differs from in/x.parquet"),
        ({"a": [1], "b": ["x"], "B": ["x"]}, (), "differ in case only"),
    ],
)
def test_parquet_files_that_do_not_fit(
    session: SparkSession,
    tmp_path: Path,
    second: dict[str, list[Any]],
    required: tuple[str, ...],
    about: str,
) -> None:
    write_table(tmp_path, "x", a=[1], b=["one"])
    write_table(tmp_path, "y", **second)
    with pytest.raises(SourceUnreadable) as refusal:
        read(session, tmp_path, parquet(), required=required)
    assert about in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "required", "names"),
    [
        ('{"a": 1}', (), ("a", "b")),
        ('{"a": 1}', ("b",), ("a",)),
        ('{"a": 1, "bb": "x"}', (), ("a", "bb")),
    ],
)
def test_a_key_that_no_line_has(
    session: SparkSession,
    tmp_path: Path,
    line: str,
    required: tuple[str, ...],
    names: tuple[str, ...],
) -> None:
    """NULL if allowed; but an undeclared key may be the misspelt one."""
    write_lines(tmp_path, "x.jsonl", line)
    batch = read(session, tmp_path, JSONL, required=required)
    assert batch.live.names == names
    assert rows(batch) == [("1", *(None if name == "b" else "x" for name in names[1:]))]


def test_a_file_without_any_line_says_nothing(session: SparkSession, tmp_path: Path) -> None:
    write_lines(tmp_path, "x.jsonl")
    assert read(session, tmp_path, JSONL).live.names == ()


@pytest.fixture
def project(tmp_path: Path) -> CsvProject:
    return CsvProject(tmp_path)


@pytest.mark.parametrize("load", ["FULL", "{type: PARTITION, partition_by: [day]}"])
def test_old_and_new_files_are_read_together(project: CsvProject, load: str) -> None:
    project.bronze(load)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.bronze(load, GROWN)
    project.apply()
    project.land("b", "extra,day,id", "x,2026-01-01,2")
    assert project.run().version == 2
    assert project.rows(columns="id, extra") == [(1, None), (2, "x")]


@pytest.mark.parametrize("load", ["APPEND", "{type: INCREMENTAL, keys: [id]}"])
def test_a_back_fill_reads_files_of_every_age(project: CsvProject, load: str) -> None:
    project.bronze(load)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01", "3,2026-02-01")
    project.run()
    project.bronze(load, GROWN)
    project.apply()
    project.land("b", "id,day,extra", "2,2026-01-02,x")
    assert project.run().version == 2
    filled = project.run(window=JANUARY)
    assert (filled.status, filled.error) == (RunStatus.SUCCESS, None)
    assert project.rows(columns="id, extra") == [(1, None), (2, "x"), (3, None)]


def test_a_column_that_no_file_has_blocks_as_ever(project: CsvProject) -> None:
    project.bronze("FULL", GROWN)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.land("b", "id,day", "2,2026-01-01")
    assert project.run().status is RunStatus.BLOCKED
    project.land("c", "id,day,extar", "3,2026-01-01,x")
    assert project.run().status is RunStatus.BLOCKED
    project.land("d", "id,day,extra", "4,2026-01-01,x")
    misspelt = project.run()
    assert misspelt.error is not None
    assert "in/c.csv has no column 'extra', which in/d.csv has" in misspelt.error.message
    project.archive("c")
    assert project.run().version == 1
    assert project.rows(columns="id, extra") == [(1, None), (2, None), (4, "x")]


def test_a_required_column_is_in_every_file(project: CsvProject) -> None:
    project.bronze("FULL", {**COLUMNS, "extra": "string, required: true"})
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.land("b", "id,day,extra", "2,2026-01-01,x")
    refused = project.run()
    assert refused.error is not None
    assert "in/a.csv has no column 'extra', which in/b.csv has" in refused.error.message
