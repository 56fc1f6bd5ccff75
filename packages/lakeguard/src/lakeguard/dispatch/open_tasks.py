"""Which tasks are not over yet."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, or_

from lakeguard.state.tables import tasks
from lakeguard_sdk.words import TaskState

_GOES_ON = (TaskState.QUEUED.value, TaskState.RUNNING.value)


def not_over() -> ColumnElement[bool]:
    """Tasks that wait, run, or are tried again by themselves."""
    waits = and_(tasks.c.state == TaskState.FAILED.value, tasks.c.due_at.is_not(None))
    return or_(tasks.c.state.in_(_GOES_ON), waits)
