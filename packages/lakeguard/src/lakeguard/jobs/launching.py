"""Launching jobs: one task for each job and key, or a recorded refusal.

All wishes of a turn are taken together: what the gates ask is read once, and rows are written
set by set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from lakeguard.dispatch import tasks as dispatched
from lakeguard.jobs.current import CurrentJob, current_jobs
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.registry.statements import AnyRow
from lakeguard.state import facts
from lakeguard.state.tables import dataset_registry, task_transitions, tasks
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.job import Launch
from lakeguard_sdk.words import TaskKind, TaskState

__all__ = ["Cause", "CauseKind", "Wish", "launch"]


def launch(connection: Connection, heart: Heart, wishes: Sequence[Wish]) -> list[Launch]:
    """What became of each wish, in their order. The same wish again is not new."""
    if not wishes:
        return []
    at = heart.clock()
    jobs = current_jobs(connection, heart.org_id, {wish.job_id for wish in wishes})
    places = _places(connection, heart.org_id, jobs)
    rows = [_row(heart.org_id, wish, jobs[wish.job_id], places, at) for wish in wishes]
    new = _insert(connection, rows)
    added = [row for row in rows if row["task_id"] in new]
    facts.tell(connection, tasks, added, at)
    facts.record(connection, task_transitions, [_first(row, at) for row in added], at)
    known = _known(connection, heart.org_id, [row for row in rows if row["task_id"] not in new])
    return [
        _answer(jobs[wish.job_id].name, row, known) for wish, row in zip(wishes, rows, strict=True)
    ]


def _row(
    org_id: str, wish: Wish, job: CurrentJob, places: dict[str, str], at: datetime
) -> dict[str, Any]:
    controls = job.controls
    return {
        "task_id": new_id("task"),
        "org_id": org_id,
        "kind": (controls.kind or TaskKind.BUILD).value,
        "dataset_id": places.get(job.job_id, job.job_id),
        "dedupe_key": wish.key,
        "parameters": parameters_text(wish),
        "triggered_by": wish.actor,
        "created_at": at,
        "max_attempts": controls.attempts or dispatched.MAX_ATTEMPTS,
        "state": TaskState.QUEUED.value,
        "attempt": 0,
        "job_id": job.job_id,
        "due_at": at,
        "priority": controls.priority,
        "labels": " ".join(controls.labels),
        "dag_version_id": None,
        "cause": wish.cause.to_json(),
        "changes": 1,
    }


def parameters_text(wish: Wish) -> str:
    """What a task keeps of its wish: the day, what was set, the window."""
    kept: dict[str, Any] = {}
    if wish.day is not None:
        kept["day"] = wish.day.isoformat()
    if wish.parameters:
        kept["set"] = wish.parameters
    if wish.window is not None:
        kept["window"] = wish.window.to_data()
    return json.dumps(kept)


def _places(connection: Connection, org_id: str, jobs: dict[str, CurrentJob]) -> dict[str, str]:
    """The dataset that each job builds."""
    built = {
        str(job.definition.dataset): job.job_id
        for job in jobs.values()
        if job.controls.kind is TaskKind.BUILD
    }
    if not built:
        return {}
    query = select(dataset_registry.c.dataset_name, dataset_registry.c.dataset_id)
    rows = connection.execute(query.where(dataset_registry.c.org_id == org_id))
    return {built[row.dataset_name]: row.dataset_id for row in rows if row.dataset_name in built}


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> set[str]:
    """The ids of the tasks that were not there before."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    new = dialect.insert(tasks).on_conflict_do_nothing().returning(tasks.c.task_id)
    return set(connection.scalars(new, rows))


def _first(row: dict[str, Any], at: datetime) -> dict[str, Any]:
    return {
        "task_id": row["task_id"],
        "number": 1,
        "org_id": row["org_id"],
        "attempt": 0,
        "from_state": None,
        "to_state": row["state"],
        "at": at,
        "actor": row["triggered_by"],
        "code": None,
        "message": None,
    }


def _known(
    connection: Connection, org_id: str, rows: list[dict[str, Any]]
) -> dict[tuple[str, str], AnyRow]:
    """Tasks that were there before, by what makes them the same."""
    found: dict[tuple[str, str], AnyRow] = {}
    keys = [(row["dataset_id"], row["dedupe_key"]) for row in rows]
    for start in range(0, len(keys), 500):
        query = select(tasks).where(
            tasks.c.org_id == org_id,
            tuple_(tasks.c.dataset_id, tasks.c.dedupe_key).in_(keys[start : start + 500]),
        )
        found.update({(row.dataset_id, row.dedupe_key): row for row in connection.execute(query)})
    return found


def _answer(name: str, row: dict[str, Any], known: dict[tuple[str, str], AnyRow]) -> Launch:
    before = known.get((row["dataset_id"], row["dedupe_key"]))
    return Launch(
        job=name,
        task_id=row["task_id"] if before is None else before.task_id,
        state=TaskState(row["state"] if before is None else before.state),
        new=before is None,
    )
