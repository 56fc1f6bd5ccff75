"""Runs of the numbers dataset that are measured for real, published if the gate allows it."""

from __future__ import annotations

from pathlib import Path

from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, Definitions
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.measure import Subject, take_measures
from openlaketx.stage import Candidate
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project


def with_rules(
    *texts: str, load: LoadType = LoadType.APPEND, tags: tuple[str, ...] = ()
) -> DatasetDefinition:
    """The numbers dataset under these rules, each with the id that it has by default."""
    (dataset,) = numbers_definitions(load).datasets
    columns = (ColumnDefinition(name="n", type="long", tags=tags),)
    return dataset.model_copy(update={"rules": tuple(map(rule, texts)), "columns": columns})


def definitions_of(dataset: DatasetDefinition) -> Definitions:
    made = numbers_definitions(LoadType.APPEND)
    return made.model_copy(update={"datasets": (dataset,)})


def past_project(folder: Path, dataset: DatasetDefinition) -> Client:
    return make_project(folder, definitions_of(dataset))


def apply_rules(client: Client, dataset: DatasetDefinition) -> None:
    client.registry.apply(client.registry.plan(definitions_of(dataset)))


def measured(lake: DeltaLake, plan: RunPlan, numbers: list[int]) -> Evidence:
    """Evidence with every measure that the plan asks for, taken of the staged files."""
    reported = evidence_of(lake, plan, numbers)
    live = lake.files(plan.location, plan.base.commit) if plan.base else ()
    stays = tuple(path for path in live if path not in reported.removes)
    shown = (*stays, *(file.path for file in reported.files))
    candidate = Candidate(plan.location, reported.files, ())
    found = take_measures(
        plan.measures, Subject(candidate, plan.table_schema, shown, reported.table_rows)
    )
    return reported.model_copy(update={"measures": {**found.values, **reported.measures}})


def past_run(client: Client, numbers: list[int], name: DatasetName = NUMBERS) -> Decision:
    """One run from its opening to its end: published, or blocked."""
    lake = DeltaLake()
    task_id = client.operations.submit(name, "by hand")
    plan = client.runs.open_run(task_id, this_process("by hand"))
    assert isinstance(plan, RunPlan), plan
    client.runs.submit_schema(plan.ticket, plan.declared)
    decision = client.runs.submit_evidence(plan.ticket, measured(lake, plan, numbers))
    if decision.allowed:
        commit = lake.publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return decision
