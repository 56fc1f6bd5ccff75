"""Files are merged within their partitions, however the values of those are spelled."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from lakeguard_sdk import Client
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.enums import LoadType, RunStatus, SourceFormat
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.publish import commit_publish
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

PARTITIONS: dict[str, tuple[str, list[Any], list[str | None]]] = {
    "string": ("string", ["a/b %", None], ["a/b %", None]),
    "date": ("date", [date(2026, 1, 31), None], ["2026-01-31", None]),
    "long": ("long", [-7, 2**40], ["-7", str(2**40)]),
    "boolean": ("boolean", [True, False], ["true", "false"]),
}
ARROW = {"string": pa.string(), "date": pa.date32(), "long": pa.int64(), "boolean": pa.bool_()}


def project(folder: Path, kind: str) -> Client:
    columns = {"n": "long", "p": kind}
    numbers = DatasetDefinition(
        dataset=NUMBERS,
        domain="test",
        owner="tests",
        build=FromSource(source="numbers"),
        load=Load(type=LoadType.APPEND, partition_by=("p",)),
        columns=tuple(ColumnDefinition(name=name, type=given) for name, given in columns.items()),
    )
    source = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="in/*.parquet")
    return make_project(folder, Definitions(sources=(source,), datasets=(numbers,)))


def staged(plan: RunPlan, number: int, kind: str, value: Any, spelled: str | None) -> StagedFile:
    path = f"{plan.staging}/lg_partition={number}/part.parquet"
    place = Path(plan.location) / path
    place.parent.mkdir(parents=True)
    rows = {"n": pa.array([number], pa.int64()), "p": pa.array([value], ARROW[kind])}
    pq.write_table(pa.table(rows), place, store_schema=False)
    facts = LocalStorage().facts(str(place))
    return StagedFile(
        path=path,
        size=facts.size,
        rows=1,
        modified_ms=facts.modified_ms,
        stats='{"numRecords":1}',
        sha256=LocalStorage().sha256(str(place)),
        partition={"p": spelled},
    )


def publish(client: Client, number: int, kind: str) -> None:
    """One row of each value."""
    _, values, spelled = PARTITIONS[kind]
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    pairs = zip(values, spelled, strict=True)
    files = tuple(staged(plan, number + i, kind, *pair) for i, pair in enumerate(pairs))
    reported = evidence_of(DeltaLake(), plan, []).model_dump()
    counted = {key: len(files) for key in reported["measures"]}
    rows = {"rows": len(files), "table_rows": reported["table_rows"] + len(files)}
    evidence = evidence_of(DeltaLake(), plan, []).model_copy(
        update={"files": files, "measures": counted, **rows}
    )
    assert client.runs.submit_evidence(plan.ticket, evidence).allowed
    client.runs.complete_move(plan.ticket, commit_publish(client.runs.begin_move(plan.ticket)))


def rows_by_partition(location: str) -> Counter[tuple[Any, Any]]:
    table = pa.table(DeltaTable(location).scan().read_all())
    return Counter((row["n"], row["p"]) for row in table.to_pylist())


@pytest.mark.parametrize("kind", sorted(PARTITIONS))
def test_files_are_merged_within_their_partitions(kind: str, tmp_path: Path) -> None:
    client = project(tmp_path, kind)
    for number in (0, 10, 20):
        publish(client, number, kind)
    location = str(tmp_path / "bronze" / "numbers")
    before = rows_by_partition(location)
    worker = local_worker(client.for_worker(), spark_options={})
    ended = worker.run_compaction(client.operations.submit_compaction(NUMBERS, "test"))
    assert (ended.status, ended.error) == (RunStatus.SUCCESS, None)
    tables = DeltaLake().tables
    live = tables.live_at(location, tables.head_version(location))
    assert {(file.partition["p"], file.rows) for file in live} == {
        (spelled, 3) for spelled in PARTITIONS[kind][2]
    }
    assert rows_by_partition(location) == before
    assert client.ledger.verify(replay=True).findings == ()
