"""Datasets of a number and a month, partitioned by the month, staged and published by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    JobDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import Changes, Evidence, StagedFile
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan, RunResult, Window
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.publish import commit_publish
from tests.support.lakes.lakes import DeltaLake
from tests.support.projects.projects import make_project

BRONZE, SILVER, GOLD = map(DatasetName, ("bronze.flights", "silver.flights", "gold.flights"))
Rows = Mapping[str | None, Sequence[int]]
"""Numbers by month."""


def dataset(
    name: DatasetName,
    *parents: DatasetName,
    load: LoadType = LoadType.PARTITION,
    by: tuple[str, ...] = ("month",),
    active: bool = True,
    more: Mapping[str, str] = MappingProxyType({}),
) -> DatasetDefinition:
    """``more``: columns beside the two, or other types of these; they are written as NULL."""
    build = (
        FromSql(file="x.sql", text=f"SELECT n, month FROM {parents[0]}")
        if parents
        else FromSource(source="flights")
    )
    columns = {"n": "long", "month": "string", **more}
    return DatasetDefinition(
        dataset=name,
        domain="test",
        owner="tests",
        parents=parents,
        build=build,
        load=Load(type=load, partition_by=by),
        columns=tuple(ColumnDefinition(name=key, type=kind) for key, kind in columns.items()),
        active=active,
    )


def definitions(*datasets: DatasetDefinition, jobs: Sequence[JobDefinition] = ()) -> Definitions:
    source = SourceDefinition(source="flights", format=SourceFormat.PARQUET, path="in/*.parquet")
    return Definitions(sources=(source,), datasets=datasets, jobs=tuple(jobs))


def project(
    folder: Path, *datasets: DatasetDefinition, jobs: Sequence[JobDefinition] = ()
) -> Client:
    return make_project(folder, definitions(*datasets, jobs=jobs))


def publish(
    client: Client,
    name: DatasetName,
    rows: Rows,
    *,
    window: Window | None = None,
    task_id: str | None = None,
) -> RunResult:
    """One run from submit to completion: a PARTITION load, or a window of it, by this process."""
    opened = task_id or client.operations.submit(name, "by hand", window=window)
    plan = client.runs.open_run(opened, this_process("by hand"))
    return plan if isinstance(plan, RunResult) else finish(client, plan, rows)


def begin(client: Client, name: DatasetName) -> RunPlan:
    """A run that is open, with its inputs pinned."""
    task_id = client.operations.submit(name, "by hand")
    plan = client.runs.open_run(task_id, this_process("by hand"))
    assert isinstance(plan, RunPlan)
    return plan


def finish(client: Client, plan: RunPlan, rows: Rows) -> RunResult:
    """The rest of an open run."""
    client.runs.submit_schema(plan.ticket, plan.declared)
    decision = client.runs.submit_evidence(plan.ticket, _evidence(plan, rows))
    assert decision.allowed, decision.ruling.reasons
    commit = commit_publish(client.runs.begin_move(plan.ticket))
    return client.runs.complete_move(plan.ticket, commit)


def unchanged(client: Client, name: DatasetName, *, task_id: str | None = None) -> RunResult:
    """A run that finds nothing to do."""
    opened = task_id or client.operations.submit(name, "by hand")
    plan = client.runs.open_run(opened, this_process("by hand"))
    assert isinstance(plan, RunPlan)
    return client.runs.finish_unchanged(plan.ticket)


def _evidence(plan: RunPlan, rows: Rows) -> Evidence:
    staged = tuple(_stage(plan, number, key, rows[key]) for number, key in enumerate(rows))
    live = DeltaLake().tables.live_at(plan.location, plan.base.commit) if plan.base else ()
    removes = tuple(file.path for file in live if _replaces(plan, rows, file.partition))
    gone = sum(file.rows for file in live if file.path in removes)
    kept = sum(file.rows for file in live) - gone
    count = sum(map(len, rows.values()))
    plain = plan.window is None and plan.load.type in (LoadType.FULL, LoadType.APPEND)
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.table_schema,
        rows=count,
        table_rows=kept + count,
        files=staged,
        removes=removes,
        base_commit=plan.base.commit if plan.base else None,
        measures={measure_key(RowCount()): count},
        inputs=tuple(pin.input for pin in plan.pins),
        build_hash="sha256:0",
        engine="by hand",
        changes=None if plain else Changes(inserted=count, deleted=gone),
    )


def _replaces(plan: RunPlan, rows: Rows, partition: Mapping[str, str | None]) -> bool:
    if plan.load.type is LoadType.FULL and plan.window is None:
        return True
    appends = plan.load.type is LoadType.APPEND and plan.window is None
    return not appends and partition.get("month") in rows


def _stage(plan: RunPlan, number: int, month: str | None, numbers: Sequence[int]) -> StagedFile:
    path = f"{plan.staging}/lg_partition={number}/part.parquet"
    if not plan.partition_by:
        path = f"{plan.staging}/part-{number}.parquet"
    file = Path(plan.location, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = {"n": pa.array(numbers, pa.int64()), "month": [month] * len(numbers)}
    others = {column.name for column in plan.table_schema.columns} - columns.keys()
    nothing = [None] * len(numbers)
    pq.write_table(pa.table({**columns, **dict.fromkeys(others, nothing)}), file)
    stat = file.stat()
    return StagedFile(
        path=path,
        size=stat.st_size,
        rows=len(numbers),
        modified_ms=stat.st_mtime_ns // 1_000_000,
        stats=f'{{"numRecords":{len(numbers)}}}',
        sha256=_sha256(file),
        partition={"month": month} if plan.partition_by else {},
    )


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
