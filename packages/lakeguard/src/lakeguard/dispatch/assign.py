"""What a worker is told of an attempt: its job's settings as they are now, and its parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Row

from lakeguard.dispatch import queue, tasks
from lakeguard.dispatch.task_row import Task, launched_settings
from lakeguard.dispatch.tasks import ticket_of
from lakeguard.dispatch.terms import JobTerms
from lakeguard.registry.files.job_settings import STEP_FUNCTION, read_controls
from lakeguard.registry.store import RegisteredDataset, job_id_of_dataset
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CauseKind, TaskKind
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import JobControls
from lakeguard_sdk.scheduling.tasks import Assignment
from lakeguard_sdk.security.secret_values import is_reference


@dataclass(frozen=True)
class Assigned:
    """A job as its latest revision says, and whether it may run."""

    name: str
    terms: JobTerms
    on: bool
    wrong: str = ""
    """What is wrong with its settings: nothing runs under those that were not understood."""
    running: int = 0
    """How many of its tasks run."""
    definition_hash: str = ""


def assigned_jobs(tx: Transaction, job_ids: Sequence[str]) -> dict[str, Assigned]:
    """Those of them that are defined."""
    parameters = {"org_id": tx.org_id, "job_ids": list(job_ids)}
    return {row.job_id: _assigned(row) for row in tx.execute(queue.jobs_now(), parameters)}


def _assigned(row: Row[Any]) -> Assigned:
    job = _parsed(row.definition)
    return replace(
        job,
        on=job.on and row.enabled is not False,
        running=row.running,
        definition_hash=row.definition_hash,
    )


@lru_cache(maxsize=20_000)
def _parsed(text: str) -> Assigned:
    """The same text is the same job, whoever has it."""
    definition = JobDefinition.from_json(text)
    reading = read_controls(definition)
    details = dict(definition.details)
    if STEP_FUNCTION in definition.config:
        details[STEP_FUNCTION] = definition.config[STEP_FUNCTION]
    terms = JobTerms(controls=reading.controls, details=details)
    wrong = reading.problem_of(definition.job)
    return Assigned(definition.job, terms, reading.active, wrong)


def assignments(
    tx: Transaction, begun: Sequence[Task], jobs: Mapping[str, Assigned], rules: DispatchSettings
) -> list[Assignment]:
    """In the order of the tasks; each with its ticket."""
    built = {task.dataset_id for task in begun if task.kind is TaskKind.BUILD}
    names: dict[str, str] = {}
    if built:
        rows = tx.execute(queue.names_of_datasets(tx.org_id, built))
        names = {row.dataset_id: row.dataset_name for row in rows}
    return [_assignment(task, jobs.get(task.job_id or ""), names, rules) for task in begun]


def _assignment(
    task: Task, job: Assigned | None, names: Mapping[str, str], rules: DispatchSettings
) -> Assignment:
    controls = JobControls() if job is None else job.terms.controls
    dataset = DatasetName(names[task.dataset_id]) if task.dataset_id in names else None
    parameters = _parameters(task, job)
    return Assignment(
        ticket=ticket_of(task),
        kind=task.kind,
        job=None if job is None else job.name,
        dataset=dataset,
        call=controls.call,
        url=controls.url,
        parameters=parameters,
        secrets=_secrets(task, parameters),
        outputs=controls.outputs,
        timeout_seconds=controls.timeout_seconds,
        lease_seconds=rules.lease_seconds,
    )


def _parameters(task: Task, job: Assigned | None) -> dict[str, str]:
    """What the launch set wins over the details of the job."""
    details = {} if job is None else job.terms.details
    return {**details, **launched_settings(task)}


def _secrets(task: Task, parameters: Mapping[str, str]) -> dict[str, str]:
    """An event or the name of a file is written by anybody: what it set names no secret."""
    named = {name: text for name, text in parameters.items() if is_reference(text)}
    if not named or (task.cause is not None and json.loads(task.cause)["kind"] == CauseKind.MANUAL):
        return named
    strange = json.loads(task.parameters).get("set", {})
    return {name: text for name, text in named.items() if name not in strange}


# Builds that somebody asks for by the name of a dataset, and runs himself.


def submit_build(
    tx: Transaction,
    dataset: RegisteredDataset,
    *,
    key: str | None,
    parameters: str,
    triggered_by: str,
    rules: DispatchSettings,
) -> str:
    """Only this process starts it, with labels, priority and attempts of the job that builds the
    dataset."""
    job_id = job_id_of_dataset(tx, dataset.name)
    controls = JobControls()
    if job_id is not None:
        controls = assigned_jobs(tx, [job_id])[job_id].terms.controls
    return tasks.submit(
        tx,
        dataset.dataset_id,
        kind=TaskKind.BUILD,
        key=key,
        parameters=parameters,
        triggered_by=triggered_by,
        at=tx.now(),
        rules=rules,
        attempts=controls.attempts,
        job_id=job_id,
        priority=controls.priority,
        labels=controls.labels,
    )
