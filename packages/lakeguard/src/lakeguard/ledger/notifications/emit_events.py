"""Writes events for facts, in the transaction that records them. Events contain no data values and
no engine messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from lakeguard.ledger.notifications.store import record_events
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import dataset_registry, md_jobs_revisions, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import MoveKind, TaskState
from lakeguard_sdk.model.notifications import Event, EventKind, event_id

Row = Mapping[str, Any]

_MOVES = {
    MoveKind.PUBLISH.value: EventKind.DATASET_PUBLISHED,
    MoveKind.ADOPTION.value: EventKind.DATASET_PUBLISHED,
    MoveKind.ROLLBACK.value: EventKind.DATASET_ROLLED_BACK,
}
"""Compactions emit no event: they change no rows."""


def emit_pointer(tx: Transaction, row: Row) -> None:
    """For a row of ``dataset_pointers``."""
    kind = _MOVES.get(row["kind"])
    if kind is None:
        return
    keys = ("dataset_id", "version", "decision_id", "actor", "ordinal")

    def happened() -> Iterator[Event]:
        name = _dataset(tx, row)
        parts = (row["dataset_id"], str(row["ordinal"]))
        data = {"dataset": name, **_chosen(row, keys)}
        yield _event(row, kind, f"dataset/{name}", row["moved_at"], parts, data)

    record_events(tx, happened)


def emit_run(tx: Transaction, row: Row, dataset: str) -> None:
    """For a row of ``run_history``."""
    keys = ("dataset_id", "run_id", "task_id", "attempt", "status", "version")

    def happened() -> Iterator[Event]:
        data = {
            "dataset": dataset,
            **_chosen(row, (*keys, "decision_id")),
            "code": row["error_code"],
        }
        kind, subject = EventKind.RUN_ENDED, f"dataset/{dataset}"
        yield _event(row, kind, subject, row["end_time"], (row["run_id"],), data)

    record_events(tx, happened)


def emit_transitions(tx: Transaction, rows: Sequence[Row]) -> None:
    """For rows of ``task_transitions`` of one organisation."""
    changed = [row for row in rows if row["to_state"] != TaskState.QUEUED.value]
    if not changed:
        return

    def happened() -> Iterator[Event]:
        known = _tasks(tx, {row["task_id"] for row in changed})
        for row in changed:
            yield from _changed(row, known[row["task_id"]])

    record_events(tx, happened)


def emit_invalidation(tx: Transaction, row: Row) -> None:
    """For a row of ``invalidations``."""

    def happened() -> Iterator[Event]:
        data = {
            "dataset": _dataset(tx, row),
            **_chosen(row, ("invalidation_id", "dataset_id", "reason", "caused_by")),
        }
        yield _invalidation(row, EventKind.INVALIDATION_OPENED, row["created_at"], data)

    record_events(tx, happened)


def emit_invalidation_end(tx: Transaction, row: Row) -> None:
    """For a row of ``invalidation_ends``."""

    def happened() -> Iterator[Event]:
        data = _chosen(row, ("invalidation_id", "outcome", "actor"))
        yield _invalidation(row, EventKind.INVALIDATION_DONE, row["ended_at"], data)

    record_events(tx, happened)


def emit_activation(tx: Transaction, row: Row) -> None:
    """For a row of ``dag_activations``."""

    def happened() -> Iterator[Event]:
        data = _chosen(row, ("dag_version_id", "number", "actor"))
        parts = (str(row["number"]),)
        yield _event(row, EventKind.GRAPH_DEPLOYED, "graph", row["activated_at"], parts, data)

    record_events(tx, happened)


def _changed(row: Row, task: Row) -> Iterator[Event]:
    """Events of a task transition: for its job, and for the task if it is dead."""
    to, parts = TaskState(row["to_state"]), (row["task_id"], str(row["number"]))
    data = {
        **_chosen(row, ("task_id", "attempt", "code")),
        **_chosen(task, ("kind", "job_id", "triggered_by")),
        "state": to.value,
    }
    if task["job_name"] is not None:
        kind = _of_job(row, to)
        refused = {"reason": row["message"]} if kind is EventKind.JOB_REFUSED else {}
        of_job = {"job": task["job_name"], **data, **refused}
        yield _event(row, kind, f"job/{task['job_name']}", row["at"], parts, of_job)
    if to is TaskState.DEAD:
        subject = f"task/{row['task_id']}"
        yield _event(row, EventKind.TASK_DEAD, subject, row["at"], parts, data)


def _of_job(row: Row, to: TaskState) -> EventKind:
    if to is TaskState.RUNNING:
        return EventKind.JOB_STARTED
    begun = row["from_state"] == TaskState.RUNNING.value
    return EventKind.JOB_REFUSED if to is TaskState.BLOCKED and not begun else EventKind.JOB_ENDED


def _tasks(tx: Transaction, ids: Collection[str]) -> dict[str, Row]:
    """Tasks by id, with their job names."""
    known, found = sorted(ids), list[dict[str, Any]]()
    for piece in in_pieces(known):
        query = select(tasks.c.task_id, tasks.c.kind, tasks.c.job_id, tasks.c.triggered_by)
        some = tasks.c.task_id.in_(piece)
        chosen = query.where(tasks.c.org_id == tx.org_id, some)
        found += [dict(row) for row in tx.execute(chosen).mappings()]
    names = _jobs(tx, {row["job_id"] for row in found if row["job_id"]})
    return {row["task_id"]: {**row, "job_name": names.get(row["job_id"])} for row in found}


def _jobs(tx: Transaction, ids: Collection[str]) -> dict[str, str]:
    """Latest names by id."""
    known, found, table = sorted(ids), dict[str, str](), md_jobs_revisions.c
    for piece in in_pieces(known):
        some = table.job_id.in_(piece)
        query = select(table.job_id, table.job_name).where(table.org_id == tx.org_id, some)
        found.update(
            {row.job_id: row.job_name for row in tx.execute(query.order_by(table.revision))}
        )
    return found


def _dataset(tx: Transaction, row: Row) -> str:
    view = dataset_registry.c
    chosen = (view.org_id == row["org_id"], view.dataset_id == row["dataset_id"])
    return str(tx.scalar(select(view.dataset_name).where(*chosen)) or row["dataset_id"])


def _invalidation(row: Row, kind: EventKind, at: Any, data: dict[str, Any]) -> Event:
    made = row["invalidation_id"]
    return _event(row, kind, f"invalidation/{made}", at, (made,), data)


def _event(
    row: Row, kind: EventKind, subject: str, at: Any, parts: Sequence[str], data: dict[str, Any]
) -> Event:
    org_id = row["org_id"]
    return Event(
        event_id=event_id(org_id, kind, *parts),
        kind=kind,
        organisation=org_id,
        subject=subject,
        data={key: value for key, value in data.items() if value is not None},
        happened_at=at,
    )


def _chosen(row: Row, keys: Sequence[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys}
