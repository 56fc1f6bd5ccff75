"""Which tasks are not over yet."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, literal_column, or_

from lakeguard.state.tables import tasks
from lakeguard_sdk.words import TaskState

_GOES_ON = (TaskState.QUEUED, TaskState.RUNNING)


def not_over() -> ColumnElement[bool]:
    """Tasks that wait, run, or are tried again by themselves.

    The words stand in the text, as in the index of such tasks: a database does not see through a
    parameter.
    """
    going_on = tasks.c.state.in_([_word(state) for state in _GOES_ON])
    waits = and_(tasks.c.state == _word(TaskState.FAILED), tasks.c.due_at.is_not(None))
    return or_(going_on, waits)


def _word(state: TaskState) -> ColumnElement[str]:
    return literal_column(f"'{state.value}'")
