"""Runs that ended in a batch, each once.

Builds end with a row of ``run_history``, attempts of other jobs with one of ``task_results``. A
task that ended while queued is an execution too: under the task's id if it had no attempt before,
else with the number of its transition.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import func, select

from lakeguard.relay.stamp import OutboxRow
from lakeguard.relay.tables import BY_RUN, EXECUTIONS
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import run_history, task_results, task_transitions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState

ENDING_TOPICS = (run_history.name, task_results.name, task_transitions.name)
_ENDED_WAITING = (TaskState.BLOCKED.value, TaskState.CANCELED.value)
_ENDING = tuple(f'"to_state":"{state}"' for state in _ENDED_WAITING)
"""Substrings of transitions that may end a task; others are not parsed."""
_QUEUED = TaskState.QUEUED.value


def ended_by(tx: Transaction, outbox_rows: Iterable[OutboxRow]) -> dict[str, dict[str, str]]:
    """Runs and their tasks, for each run view with rows due in this batch."""
    rows: dict[str, list[dict[str, Any]]] = {topic: [] for topic in ENDING_TOPICS}
    for topic, payload in outbox_rows:
        if topic in rows and (topic != task_transitions.name or _may_end(payload)):
            rows[topic].append(json.loads(payload))
    builds = {row["run_id"]: row["task_id"] for row in rows[run_history.name]}
    others = {row["run_id"]: row["task_id"] for row in rows[task_results.name]}
    waiting = dict(_ended_waiting(tx, rows[task_transitions.name]))
    ended = dict.fromkeys(BY_RUN, builds)
    ended[EXECUTIONS] = {**builds, **others, **waiting}
    return {name: ids for name, ids in ended.items() if ids}


def _may_end(payload: str) -> bool:
    return any(text in payload for text in _ENDING)


def _ended_waiting(tx: Transaction, changes: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Executions that ended before they started, with their tasks."""
    ends = [
        row
        for row in changes
        if row["to_state"] in _ENDED_WAITING and row.get("from_state") in (None, _QUEUED)
    ]
    untried = sorted({row["task_id"] for row in ends if row["attempt"] == 0})
    first = dict(_first_ends(tx, untried))
    for row in ends:
        task_id, number = row["task_id"], row["number"]
        is_first = row["attempt"] == 0 and first[task_id] == number
        yield task_id if is_first else f"{task_id}.{number}", task_id


def _first_ends(tx: Transaction, task_ids: Sequence[str]) -> Iterator[tuple[str, int]]:
    table = task_transitions.c
    for piece in in_pieces(task_ids):
        found = tx.execute(
            select(table.task_id, func.min(table.number))
            .where(table.task_id.in_(piece))
            .where(table.to_state.in_(_ENDED_WAITING))
            .group_by(table.task_id)
        )
        yield from (tuple(row) for row in found)
