"""What a task's changing columns must be, by the attempts and runs that are on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeguard.relay.catalogue import LedgerTable, fact_tables
from lakeguard.relay.rows import PlainRow
from lakeguard_sdk.words import TaskState

_ADDED = ("state", "attempt", "run_id", "worker")
_ENDED = {
    "SUCCESS": TaskState.COMPLETED,
    "BLOCKED": TaskState.BLOCKED,
    "FAILED": TaskState.FAILED,
}


def with_states(
    table: LedgerTable, rows: Mapping[str, Sequence[PlainRow]]
) -> tuple[tuple[str, ...], Sequence[PlainRow]]:
    """Columns and rows to insert. A task that was running has no lease any more: the next
    writing command ends it."""
    if table.name != "tasks":
        return table.columns, rows[table.name]
    latest: dict[str, PlainRow] = {}
    for attempt in _pick(rows, "task_attempts", "task_id", "attempt", "run_id", "worker"):
        if attempt[0] not in latest or latest[attempt[0]][1] < attempt[1]:
            latest[attempt[0]] = attempt
    ended = dict(_pick(rows, "run_history", "run_id", "status"))
    task_id = table.columns.index("task_id")
    full = [(*row, *_state(latest.get(row[task_id]), ended)) for row in rows["tasks"]]
    return (*table.columns, *_ADDED), full


def _state(attempt: PlainRow | None, ended: Mapping[str, str]) -> PlainRow:
    if attempt is None:
        return (TaskState.QUEUED.value, 0, None, None)
    _, number, run_id, worker = attempt
    status = ended.get(run_id)
    state = TaskState.RUNNING if status is None else _ENDED[status]
    return (state.value, number, run_id, worker)


def _pick(rows: Mapping[str, Sequence[PlainRow]], name: str, *columns: str) -> list[Any]:
    places = [fact_tables()[name].columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in rows[name]]
