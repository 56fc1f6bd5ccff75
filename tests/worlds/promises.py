"""Datasets of numbers under one policy, and what it comes to for a run of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.decision import CheckResult, Decision
from lakeguard_sdk.definition import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    PolicyDefinition,
    SourceDefinition,
)
from lakeguard_sdk.processes import this_process
from lakeguard_sdk.run import Failure, RunPlan, RunResult
from lakeguard_sdk.words import LoadType, PolicyType, SourceFormat
from tests.worlds.hand_work import evidence_of
from tests.worlds.lakes import DeltaLake
from tests.worlds.planes import NUMBERS
from tests.worlds.projects import make_project

DOUBLED, TOTALS = DatasetName("silver.doubled"), DatasetName("gold.totals")
SOURCE = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="in/*.parquet")


def numbers(**changes: Any) -> DatasetDefinition:
    fields: dict[str, Any] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers"),
        "load": LoadType.FULL,
        "columns": (ColumnDefinition(name="n", type="long"),),
    }
    return DatasetDefinition(**{**fields, **changes})


def built(
    text: str, parent: DatasetName = NUMBERS, name: DatasetName = DOUBLED
) -> DatasetDefinition:
    return numbers(
        dataset=name, parents=(parent,), build=FromSql(file=f"sql/{name}.sql", text=text)
    )


def promise(type: PolicyType, expression: str, **changes: Any) -> PolicyDefinition:
    return PolicyDefinition(policy="promise", type=type, expression=expression, **changes)


def world(folder: Path, *datasets: DatasetDefinition, **more: Any) -> Client:
    return make_project(folder, Definitions(**{"sources": (SOURCE,), "datasets": datasets, **more}))


def revise(client: Client, *datasets: DatasetDefinition, **more: Any) -> None:
    client.registry.apply(client.registry.plan(Definitions(datasets=datasets, **more)))


def decided(
    client: Client, name: DatasetName = NUMBERS, rows: list[int] | None = None, **said: Any
) -> tuple[RunResult | None, CheckResult, str]:
    """The result of a refusal at open, if it was one; what the promise came to; the run's id."""
    task = client.operations.submit(name, "test")
    plan = client.runs.open_run(task, this_process("test"))
    if isinstance(plan, RunResult):
        assert plan.decision is not None
        return plan, promised(plan.decision.ruling.checks), plan.run_id
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, rows or [1, 2]).model_copy(update=said)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    end(client, plan, decision)
    return None, promised(decision.ruling.checks), plan.ticket.run_id


def end(client: Client, plan: RunPlan, decision: Decision) -> None:
    """Only a run that is over can be looked at."""
    if decision.allowed:
        client.runs.fail_run(plan.ticket, Failure(code="LG-0000", message="it was only a test"))


def promised(checks: tuple[CheckResult, ...]) -> CheckResult:
    (found,) = [check for check in checks if check.check_id == "promise"]
    return found


def opened(client: Client, name: DatasetName = NUMBERS) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(name, "test"), this_process("test"))
    assert isinstance(plan, RunPlan), plan
    return plan
