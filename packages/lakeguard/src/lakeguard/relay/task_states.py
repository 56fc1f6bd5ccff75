"""What a task's changing columns must be, by the changes and attempts that are on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeguard.relay.catalogue import LedgerTable, fact_tables
from lakeguard.relay.rows import PlainRow
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.words import TaskState

NEEDED = ("tasks", "task_attempts", "task_transitions")
"""Tables whose rows say where tasks stand."""

_ADDED = ("state", "due_at", "changes", "ended_at", "attempt", "run_id", "worker")


def with_states(
    table: LedgerTable, rows: Mapping[str, Sequence[PlainRow]]
) -> tuple[tuple[str, ...], Sequence[PlainRow]]:
    """Columns and rows to insert. A task that was running has no lease any more: the next
    writing command ends it."""
    if table.name != "tasks":
        return table.columns, rows[table.name]
    tried = _latest(_pick(rows, "task_attempts", "task_id", "attempt", "run_id", "worker"))
    changed = _latest(
        _pick(rows, "task_transitions", "task_id", "number", "to_state", "due_at", "at")
    )
    task_id = table.columns.index("task_id")
    for row in rows["tasks"]:
        if row[task_id] not in changed:
            reason = f"task {row[task_id]} has no transition"
            raise LedgerUnreadable(location="task_transitions", reason=reason)
    full = [
        (*row, *_added(changed[row[task_id]], tried.get(row[task_id]))) for row in rows["tasks"]
    ]
    return (*table.columns, *_ADDED), full


def _latest(numbered: Sequence[PlainRow]) -> dict[str, PlainRow]:
    """Of each task the row with the highest number."""
    found: dict[str, PlainRow] = {}
    for row in numbered:
        if row[0] not in found or found[row[0]][1] < row[1]:
            found[row[0]] = row
    return found


def _added(change: PlainRow, attempt: PlainRow | None) -> PlainRow:
    _, number, run_id, worker = attempt or (None, 0, None, None)
    _, changes, state, due_at, at = change
    ended_at = at if state == TaskState.COMPLETED.value else None
    return (state, due_at, changes, ended_at, number, run_id, worker)


def _pick(rows: Mapping[str, Sequence[PlainRow]], name: str, *columns: str) -> list[Any]:
    places = [fact_tables()[name].columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in rows[name]]
