"""Which runs a batch tells the ends of: once each, whatever else it tells of them.

Builds end by a row of ``run_history``, attempts of other jobs by one of ``task_results``. A task
that ended before its first attempt is an execution too, and its first such change ended it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from lakeguard.relay.catalogue import BY_RUN, EXECUTIONS
from lakeguard.relay.stamping import Told
from lakeguard.state.tables import run_history, task_results, task_transitions
from lakeguard_sdk.words import TaskState

ENDING_TOPICS = (run_history.name, task_results.name, task_transitions.name)
_ENDED_UNTRIED = (TaskState.BLOCKED.value, TaskState.CANCELED.value)
_UNTRIED = '"attempt":0,'
"""In what is told of a change before the first attempt; the many others are not even read."""
_AT_ONCE = 5_000
"""Ids in one IN list."""


def ended_by(connection: Connection, told: Iterable[Told]) -> dict[str, list[str]]:
    """For each view over runs whose rows are due now, the runs; nothing for the others."""
    rows: dict[str, list[dict[str, Any]]] = {topic: [] for topic in ENDING_TOPICS}
    for topic, payload in told:
        if topic in rows and (topic != task_transitions.name or _UNTRIED in payload):
            rows[topic].append(json.loads(payload))
    builds = [row["run_id"] for row in rows[run_history.name]]
    others = [row["run_id"] for row in rows[task_results.name]]
    untried = list(_untried(connection, rows[task_transitions.name]))
    ended = dict.fromkeys(BY_RUN, builds)
    ended[EXECUTIONS] = [*builds, *others, *untried]
    return {name: ids for name, ids in ended.items() if ids}


def _untried(connection: Connection, changes: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Tasks that a change ended before any attempt, where none of before had."""
    ends = {
        (row["task_id"], row["number"])
        for row in changes
        if row["attempt"] == 0 and row["to_state"] in _ENDED_UNTRIED
    }
    ids = sorted({task_id for task_id, _ in ends})
    table = task_transitions.c
    for start in range(0, len(ids), _AT_ONCE):
        firsts = connection.execute(
            select(table.task_id, func.min(table.number))
            .where(table.task_id.in_(ids[start : start + _AT_ONCE]))
            .where(table.to_state.in_(_ENDED_UNTRIED))
            .group_by(table.task_id)
        )
        yield from (task_id for task_id, number in firsts if (task_id, number) in ends)
