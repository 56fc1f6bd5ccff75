"""Keys that are looked for in partitioned tables, of which the log alone tells some columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import (
    ComparedPart,
    ComparedRows,
    UnmatchedRows,
    measure_key,
)
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import InputPin, RunPlan, TableSnapshot
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import left_to_log, live_files, open_table
from openlaketx.measure import MeasureOptions, Subject, referenced_rows, take_measures
from openlaketx.measure.engine_choice import EngineChoice
from tests.property.measure.staging import staged
from tests.support.lakes.plans import csv, plan

REGIONS = DatasetName("silver.regions")
SCHEMA = TableSchema(columns=(Column(name="n", type="long"), Column(name="region", type="string")))
REGION = ColumnRef(name="region", type="string")
BATCH = [{"n": n, "region": region} for n, region in enumerate(("DE", "FR", "IT", None))]


def written_by_others(place: Path) -> DeltaTable:
    """Partitioned: its files do not have the column that their folders are named by."""
    rows = pa.table({"n": [1, 2], "region": ["DE", "FR"]})
    write_deltalake(place, rows, partition_by=["region"])
    table = DeltaTable(place)
    for path in live_files(table):
        assert pq.read_schema(place / path).names == ["n"]
    return table


def pinned(table: DeltaTable, place: Path) -> InputPin:
    return InputPin(
        input=InputVersion(dataset=REGIONS, dataset_id="ds_2", version=1),
        snapshot=TableSnapshot(
            location=str(place), table_id=str(table.metadata().id), commit=table.version()
        ),
        schema=SCHEMA,
    )


def run_plan(folder: Path, *references: InputPin) -> RunPlan:
    return plan(folder, csv(), SCHEMA, location=str(folder), references=references)


def unmatched(dataset: DatasetName, *, found: bool) -> UnmatchedRows:
    return UnmatchedRows(columns=(REGION,), dataset=dataset, to=("region",), found=found)


def compared(*columns: ColumnRef, part: ComparedPart, to: tuple[str, ...] = ()) -> ComparedRows:
    return ComparedRows(part=part, columns=columns, dataset=REGIONS, to=to)


def count(subject: Subject, asked: UnmatchedRows | ComparedRows) -> object:
    measured = take_measures([asked], subject)
    assert measured.unmeasured == {}
    return measured.values[measure_key(asked)]


def beside_regions(folder: Path) -> Subject:
    place = folder / "their regions"
    pin = pinned(written_by_others(place), place)
    subject = staged(folder, BATCH, [], SCHEMA)
    references = referenced_rows(run_plan(folder, pin), subject.table, {})
    return Subject(subject.batch, SCHEMA, subject.table, 4, references=references)


@pytest.mark.parametrize(("found", "rows"), [(False, 1), (True, 2)])
def test_keys_of_a_table_that_others_wrote(tmp_path: Path, found: bool, rows: int) -> None:
    assert count(beside_regions(tmp_path), unmatched(REGIONS, found=found)) == rows


def test_a_table_that_refers_to_itself(tmp_path: Path) -> None:
    """Keys and what they refer to are both told by the log, of different files."""
    written_by_others(tmp_path)
    table = open_table(str(tmp_path))
    theirs = tuple(sorted(live_files(table)))
    subject = staged(tmp_path, BATCH, [], SCHEMA)
    shown = (*subject.table, *theirs)
    lacking = left_to_log(table, shown)
    mine = run_plan(tmp_path)
    only_theirs = referenced_rows(mine, theirs, lacking)
    whole = Subject(subject.batch, SCHEMA, shown, 6, lacking=lacking, references=only_theirs)
    assert count(whole, unmatched(mine.dataset, found=True)) == 4
    assert count(whole, unmatched(mine.dataset, found=False)) == 1


def test_columns_that_a_log_tells_are_not_asked_of_spark(tmp_path: Path) -> None:
    subject = beside_regions(tmp_path)
    for engine in (EngineChoice.SPARK, EngineChoice.AUTO):
        assert not MeasureOptions(engine, large_bytes=1).with_spark([], subject)
    alone = Subject(subject.batch, SCHEMA, subject.table, 4)
    assert MeasureOptions(EngineChoice.SPARK).with_spark([], alone)


def test_whole_rows_are_not_compared_where_the_other_has_more_columns(tmp_path: Path) -> None:
    subject, differing = beside_regions(tmp_path), ComparedPart.DIFFERING
    number = ColumnRef(name="n", type="long")
    assert count(subject, compared(number, REGION, part=differing)) == 6
    assert count(subject, compared(REGION, part=differing, to=("region",))) == 2
    assert count(subject, compared(REGION, part=ComparedPart.ALL, to=("region",))) == 6
    fewer = compared(REGION, part=differing)
    (reason,) = take_measures([fewer], subject).unmeasured.values()
    assert reason == (
        "silver.regions also has n, and whole rows are compared: name the columns in the rule"
    )
