"""The target's transform changes what is measured and written, from the next run on."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from openlaketx.worker import create_worker
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import DATASET, csv, schema, write_files

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
DECLARED = schema(id="long", name="string")


@pytest.fixture
def runs(tmp_path: Path) -> PlainRuns:
    write_files(tmp_path, a="id,name\n1,one\n2,two\n")
    return PlainRuns(tmp_path, DATASET, DECLARED, csv())


def run(runs: PlainRuns) -> RunResult:
    return create_worker(runs.client(), spark_options={}).run_task("task_1")


def rows(runs: PlainRuns) -> list[tuple[object, ...]]:
    table = pa.table(DeltaTable(runs.location).scan().read_all())
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_a_changed_transform_changes_the_next_run_and_its_build(runs: PlainRuns) -> None:
    assert run(runs).version == 1
    assert rows(runs) == [(1, "one"), (2, "two")]
    runs.transform = "SELECT id, upper(name) AS name, id AS more FROM batch WHERE id > 1;"
    assert run(runs).version == 2
    assert rows(runs) == [(2, "TWO")]
    assert runs.live[0].names == ("id", "name")
    assert runs.live[1].names == ("id", "name", "more"), "the gate sees what will be written"
    first, second = runs.evidence
    assert first.build_hash != second.build_hash
    runs.transform = ""
    assert run(runs).version == 3
    assert (rows(runs), runs.evidence[2].build_hash) == (
        [(1, "one"), (2, "two")],
        first.build_hash,
    )


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("SELECT nothing FROM batch", "nothing"),
        ("SELECT id, name FROM elsewhere", "elsewhere"),
        ("SELECT id, name FROM parquet.`/tmp`", "parquet"),
        ("DROP VIEW batch", "not a query"),
        ("SELECT id, INTERVAL 1 DAY AS name FROM batch", "which is not supported"),
        ("SELECT id, name, 1 AS ID FROM batch", "differ in case only"),
        ("SELECT CAST(name AS BIGINT) AS id, name FROM batch", "transform of its target: .*'one'"),
    ],
)
def test_a_transform_that_does_not_work_fails_the_run_by_name(
    runs: PlainRuns, text: str, about: str
) -> None:
    runs.transform = text
    result = run(runs)
    assert (result.status, runs.evidence) == (RunStatus.FAILED, [])
    assert result.error is not None
    assert re.search(about, result.error.message)


def test_a_source_that_cannot_be_read_is_still_the_sources_fault(
    runs: PlainRuns, tmp_path: Path
) -> None:
    runs.transform = "SELECT id, name FROM batch"
    write_files(tmp_path, b="id,name\n1,one,more\n")
    result = run(runs)
    assert result.error is not None
    assert (result.error.code, "b.csv" in result.error.message) == ("LG-5003", True)
