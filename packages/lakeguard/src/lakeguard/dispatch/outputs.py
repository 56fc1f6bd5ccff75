"""What jobs bring forth that build no dataset: each output once for each key of its job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from lakeguard.dispatch.task import Task
from lakeguard.state import facts
from lakeguard.state.tables import output_materializations
from lakeguard_sdk.canonical import canonical_json
from lakeguard_sdk.dispatch import TaskReport
from lakeguard_sdk.errors import LakeGuardError, OutputThere

Brought = tuple[Task, TaskReport]


def bring(connection: Connection, brought: Sequence[Brought], at: datetime) -> None:
    """A second output of the same key is refused by the database."""
    rows = [row for task, report in brought for row in _rows(task, report, at)]
    facts.record(connection, output_materializations, rows, at)


def brought_before(
    connection: Connection, org_id: str, brought: Sequence[Brought]
) -> dict[str, LakeGuardError]:
    """By run, why its report cannot be taken: outputs that are there, of another task."""
    keys = {
        (_job(task), output, task.dedupe_key): str(task.run_id)
        for task, report in brought
        for output in report.outputs
    }
    if not keys:
        return {}
    table = output_materializations.c
    jobs, _, named = (sorted({*parts}) for parts in zip(*keys, strict=True))
    there = connection.execute(
        select(table.job_id, table.output, table.idempotency_key, table.run_id).where(
            table.org_id == org_id, table.job_id.in_(jobs), table.idempotency_key.in_(named)
        )
    )
    return {
        keys[job, output, key]: OutputThere(output=output, key=key, run=run)
        for job, output, key, run in there
        if (job, output, key) in keys
    }


def _rows(task: Task, report: TaskReport, at: datetime) -> Iterator[dict[str, Any]]:
    for name, output in report.outputs.items():
        yield {
            "org_id": task.org_id,
            "job_id": _job(task),
            "output": name,
            "idempotency_key": task.dedupe_key,
            "task_id": task.task_id,
            "run_id": task.run_id,
            "location": output.location,
            "rows": output.rows,
            "bytes": output.bytes,
            "notes": canonical_json(output.notes) if output.notes else None,
            "created_at": at,
        }


def _job(task: Task) -> str:
    return task.job_id or task.dataset_id
