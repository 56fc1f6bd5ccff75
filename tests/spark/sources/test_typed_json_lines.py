"""DuckDB reads JSON Lines as Spark does, or leaves them to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.conform import conform, with_typed_texts
from openlaketx.extract import Batch, extract
from tests.support.examples import examples
from tests.support.lakes.plans import plan, schema
from tests.support.strategies.json_lines import NUMBERS, file_of, flat_lines, lines

pytestmark = pytest.mark.spark

KINDS = {
    "string": ('"x"', '""', "null", '"1.50"', '"null"', '"ä💥"', '"a\\"b\\\\\\/\\n"', "5", "true"),
    "long": ("1", "-7", "0", "null", '"5"', '""', "123456789012345678", "1.0"),
    "double": (*NUMBERS[:19], "64504.71428571428", "null", '"1e3"'),
    "decimal(18,4)": ("1", "1.50", "123456789.1234", "12345678901234.5678", "0.00001", "null"),
    "float": ("0.1", "16777217", "1.5", "null", "8388608.5", "0.000001"),
    "boolean": ("true", "false", "null", '"true"'),
}


@st.composite
def typed_files(draw: st.DrawFn) -> tuple[tuple[str, ...], list[str]]:
    declared = tuple(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=4)))
    kinds = tuple(
        tuple(draw(st.lists(st.sampled_from(KINDS[kind]), min_size=1, max_size=3)))
        for kind in declared
    )
    return declared, draw(flat_lines(kinds))


odd_files = st.tuples(
    st.just(("string", "long", "double", "decimal(18,4)")), st.lists(lines(), max_size=4)
)


def run_of(lake: Path, declared: tuple[str, ...], content: bytes) -> RunPlan:
    (lake / "in").mkdir()
    (lake / "in" / "one.jsonl").write_bytes(content)
    build = SourceBuild(source="orders", format=SourceFormat.JSONL, path="in/*.jsonl", options={})
    columns = {chr(97 + place): kind for place, kind in enumerate(declared)}
    return plan(lake, build, schema(**columns))


def rows(batch: Batch, run: RunPlan) -> list[str]:
    known = [column for column in run.batch_schema.columns if column.name in batch.live.names]
    declared = schema(**{column.name: column.type for column in known})
    frame = conform(batch.frame, batch.live, declared, "bronze.orders")
    return sorted(repr(tuple(row)) for row in frame.collect())


@given(drawn=st.one_of(typed_files(), typed_files(), odd_files))
@examples(400, quick=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_duckdb_reads_has_the_rows_of_spark(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory, drawn: Any
) -> None:
    declared, found = drawn
    lake = tmp_path_factory.mktemp("lake")
    run = run_of(lake, declared, file_of(found))
    try:
        batch = extract(run, lambda: session, str(lake), LocalStorage())
    except SourceUnreadable:
        return
    assert batch is not None
    with with_typed_texts(batch, run) as typed:
        if typed is not batch:
            assert rows(typed, run) == rows(batch, run)


def test_usual_files_are_read_by_duckdb(session: SparkSession, tmp_path: Path) -> None:
    found = [
        '{"a": "x", "b": 1, "c": 64504.71428571428, "d": 938.39}',
        '{"a": null, "b": -7, "c": 0.07, "d": 7, "e": "undeclared"}',
        '{"a": "ä\\"💥", "c": 1e3}',
    ]
    run = run_of(tmp_path, ("string", "long", "double", "decimal(9,2)"), file_of(found))
    batch = extract(run, lambda: session, str(tmp_path), LocalStorage())
    assert batch is not None
    with with_typed_texts(batch, run) as typed:
        assert typed is not batch
        assert rows(typed, run) == rows(batch, run)
