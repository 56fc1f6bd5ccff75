"""Two datasets under every form of policy at once: each as it is kept, and as it is broken."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import (
    CheckKind,
    Enforcement,
    Layer,
    LoadType,
    Outcome,
    PolicyType,
    SourceFormat,
)
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    PolicyDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.plans import write_files
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.folders import applied, run
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

BRONZE, SILVER = DatasetName("bronze.notes"), DatasetName("silver.notes")
OF = {Layer.BRONZE: BRONZE, Layer.SILVER: SILVER}
FILES: dict[str, str | bytes] = {
    "definitions/sources/notes.yaml": (
        "source: notes\nformat: csv\npath: in/*.csv\nmalformed: quarantine\n"
    ),
    "definitions/bronze/notes.yaml": """\
dataset: bronze.notes
owner: tests
domain: shop
description: What people wrote down.
source: notes
load: {type: INCREMENTAL, keys: [id]}
columns:
  id: {type: long, required: true}
  note: {type: string, tags: [pii]}
""",
    "definitions/silver/notes.yaml": """\
dataset: silver.notes
owner: tests
domain: shop
parents: [bronze.notes]
build: {sql: sql/notes.sql}
load: {type: INCREMENTAL, keys: [id]}
columns:
  id: {type: long}
""",
    "sql/notes.sql": "SELECT id FROM bronze.notes\n",
}
SECRET = "call 123-45-6789 now"


class Promise(NamedTuple):
    """An expression that a run keeps and one that it breaks, each with the layer that it is for."""

    type: PolicyType
    held: str
    broken: str
    held_by: Layer = Layer.BRONZE
    broken_by: Layer = Layer.BRONZE


PROMISES: dict[str, Promise] = {
    "tag": Promise(PolicyType.PII, "forbid tag:secret", "forbid tag:pii"),
    "names": Promise(PolicyType.PII, "forbid columns [ssn]", "forbid columns ['NOT*']"),
    "pattern": Promise(
        PolicyType.PII,
        "forbid pattern '[0-9]{4}-[0-9]{6}' in values",
        "forbid pattern '[0-9]{3}-[0-9]{2}-[0-9]{4}' in values",
    ),
    "mode": Promise(PolicyType.SCHEMA, "mode BACKWARD", "mode STRICT"),
    "freshness": Promise(
        PolicyType.SLA, "freshness <= 48h", "freshness <= 24h", Layer.SILVER, Layer.SILVER
    ),
    "arrival": Promise(PolicyType.SLA, "arrival by 23:00", "arrival by 06:00"),
    "duration": Promise(PolicyType.SLA, "duration <= 2m", "duration <= 1m"),
    "owner": Promise(PolicyType.OWNERSHIP, "owner in [tests]", "owner in [others]"),
    "owned": Promise(PolicyType.OWNERSHIP, "owner required", ""),
    "described": Promise(
        PolicyType.OWNERSHIP,
        "description required",
        "description required",
        broken_by=Layer.SILVER,
    ),
    "rules": Promise(PolicyType.RULE_COVERAGE, "rules >= 1", "rules >= 2"),
    "keys": Promise(
        PolicyType.RULE_COVERAGE, "rules cover keys", "rules cover keys", broken_by=Layer.SILVER
    ),
    "covered": Promise(
        PolicyType.RULE_COVERAGE, "columns covered >= 50%", "columns covered >= 51%"
    ),
    "built": Promise(
        PolicyType.LINEAGE_PARENT, "parents required", "parents required", held_by=Layer.SILVER
    ),
    "first": Promise(
        PolicyType.LINEAGE_PARENT, "parents forbidden", "parents forbidden", broken_by=Layer.SILVER
    ),
    "from": Promise(
        PolicyType.LINEAGE_PARENT,
        "parents from [bronze, silver]",
        "parents from silver",
        Layer.SILVER,
        Layer.SILVER,
    ),
    "rows": Promise(PolicyType.VOLUME_CAP, "rows <= 2", "rows <= 1"),
    "bytes": Promise(PolicyType.VOLUME_CAP, "bytes <= 1MB", "bytes <= 10"),
    "growth": Promise(PolicyType.VOLUME_CAP, "growth <= 100%", "growth <= 10%"),
    "share": Promise(PolicyType.QUARANTINE_BUDGET, "quarantine <= 50%", "quarantine <= 49%"),
    "quarantine": Promise(
        PolicyType.QUARANTINE_BUDGET, "quarantine <= 1 rows", "quarantine <= 0 rows"
    ),
    "columns": Promise(PolicyType.NAMING, "columns match '[a-z]+'", "columns match '[a-m]+'"),
    "dataset": Promise(PolicyType.NAMING, "dataset match 'notes'", "dataset match 'fact_[a-z]+'"),
    "weekly": Promise(
        PolicyType.CHANGE_FREEZE, "freeze monday..tuesday", "freeze thursday..sunday"
    ),
    "yearly": Promise(
        PolicyType.CHANGE_FREEZE, "freeze 2026-12-20..2027-01-03", "freeze 2025-12-20..2026-01-31"
    ),
}


class Notes:
    """A line of notes comes with each file, with a line that is malformed and a new column."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.landed = folder, 0
        self.client: Client = applied(folder, FILES)

    def promise(self, broken: Collection[str], enforcement: Enforcement) -> None:
        """Every policy anew: kept, but for those that are named here."""
        policies = tuple(_policies(broken, enforcement))
        self.client.registry.apply(self.client.registry.plan(Definitions(policies=policies)))

    def run(self, layer: Layer) -> RunResult:
        return run(self.client, OF[layer])

    def land(self, *, good: bool = True) -> None:
        self.landed += 1
        lines = ["id,note,more", "one field too many,x,y,z"]
        lines += [f"{self.landed},{SECRET},x"] if good else []
        write_files(self.folder, **{f"notes{self.landed}": "\n".join(lines) + "\n"})

    def staged(self, result: RunResult) -> list[Path]:
        """Files that a run left below a table."""
        found = self.folder.glob(f"{result.dataset.layer}/*/runs/{result.run_id}/**/*")
        return [path for path in found if path.is_file()]

    def versions(self, layer: Layer) -> list[int]:
        return [row.version for row in self.client.reader.versions(OF[layer])]


def _policies(broken: Collection[str], enforcement: Enforcement) -> Iterator[PolicyDefinition]:
    for name, given in PROMISES.items():
        breaks = name in broken
        yield PolicyDefinition(
            policy=name,
            type=given.type,
            expression=given.broken if breaks else given.held,
            applies_to_layer=given.broken_by if breaks else given.held_by,
            enforcement=enforcement,
        )


def policy_outcomes(result: RunResult) -> dict[str, Outcome]:
    """What each policy came to, by its name."""
    assert result.decision is not None, result.error
    checks = result.decision.ruling.checks
    return {each.check_id: each.outcome for each in checks if each.kind is CheckKind.POLICY}


def over(layer: Layer, broken: Collection[str]) -> set[str]:
    """The policies that are over a layer, where these are broken."""
    return {
        name
        for name, given in PROMISES.items()
        if layer is (given.broken_by if name in broken else given.held_by)
    }


# Datasets of numbers under one policy, and what it comes to for a run of theirs.

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
    client: Client, name: DatasetName = NUMBERS, rows: list[int] | None = None, **given: Any
) -> tuple[RunResult | None, CheckResult, str]:
    """The result of a refusal at open, if it was one; what the promise came to; the run's id."""
    task = client.operations.submit(name, "test")
    plan = client.runs.open_run(task, this_process("test"))
    if isinstance(plan, RunResult):
        assert plan.decision is not None
        return plan, promised(plan.decision.ruling.checks), plan.run_id
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, rows or [1, 2]).model_copy(update=given)
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
