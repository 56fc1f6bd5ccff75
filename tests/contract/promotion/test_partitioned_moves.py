"""Partition values are approved like everything else that a reader of the log believes."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import (
    CommitKind,
    LoadType,
    RunStatus,
    SourceFormat,
)
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.delta_log import PUBLISH_APP, CommitAuthor
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Intent, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.publish import commit_publish
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

Values = dict[str, str | None]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    columns = {"n": "long", "p": "string", "day": "date"}
    numbers = DatasetDefinition(
        dataset=NUMBERS,
        domain="test",
        owner="tests",
        build=FromSource(source="numbers"),
        load=Load(type=LoadType.APPEND, partition_by=("p", "day")),
        columns=tuple(ColumnDefinition(name=name, type=kind) for name, kind in columns.items()),
    )
    source = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="in/*.parquet")
    return make_project(tmp_path, Definitions(sources=(source,), datasets=(numbers,)))


def decided(client: Client, values: Values) -> tuple[RunPlan, Decision]:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    reported = evidence_of(DeltaLake(), plan, [1])
    files = tuple(file.model_copy(update={"partition": values}) for file in reported.files)
    evidence = reported.model_copy(update={"files": files})
    return plan, client.runs.submit_evidence(plan.ticket, evidence)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"p": "a"},
        {"p": "a", "day": "2024-01-01", "n": "1"},
        {"p": "", "day": None},
        {"p": "a", "day": "today"},
    ],
)
def test_a_file_of_no_partition_is_blocked(client: Client, values: Values) -> None:
    _, decision = decided(client, values)
    assert not decision.allowed
    assert "is in no partition of the table" in decision.ruling.reasons[0]


def test_approved_partitions_are_published(client: Client) -> None:
    plan, decision = decided(client, {"p": "a/b %", "day": None})
    assert decision.allowed
    commit = commit_publish(client.runs.begin_move(plan.ticket))
    assert client.runs.complete_move(plan.ticket, commit).version == 1
    assert DeltaTable(plan.location).metadata().partition_columns == ["p", "day"]


@pytest.mark.parametrize("values", [{"p": "b", "day": None}, {"p": "a", "day": "2024-01-01"}])
def test_a_commit_of_another_partition_is_no_version(client: Client, values: Values) -> None:
    plan, decision = decided(client, {"p": "a", "day": None})
    assert decision.allowed
    intent = client.runs.begin_move(plan.ticket)
    ended = client.runs.complete_move(plan.ticket, commit_otherwise(intent, values))
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert (ended.error.code, "other files" in ended.error.message) == ("LG-4004", True)


def commit_otherwise(intent: Intent, values: Values) -> int:
    """A data plane that commits the file under another partition than was approved."""
    table = DeltaTable(intent.location)
    (file,) = intent.adds
    add = AddAction(
        path=file.path,
        size=file.size,
        partition_values=values,
        modification_time=file.modified_ms,
        data_change=True,
        stats=file.stats,
    )
    table.create_write_transaction(
        [add],
        "append",
        table.schema(),
        partition_by=list(intent.partition_by),
        commit_properties=CommitProperties(
            custom_metadata=CommitAuthor.of(intent, CommitKind.PUBLISH).custom_metadata(),
            app_transactions=[Transaction(PUBLISH_APP, intent.seq)],
            max_commit_retries=0,
        ),
    )
    return table.version() + 1
