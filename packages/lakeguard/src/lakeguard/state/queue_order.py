"""Which queued tasks are due, and the order in which they are claimed.

Values of partial-index predicates are literals, because a planner cannot match parameters. Nothing
is queued for a time after ``too_far``, except by a clock that was ahead: that is due.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Select,
    String,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
    true,
)

from lakeguard.state.tables.tasks import tasks
from lakeguard_sdk.core.enums import QUEUED_KINDS

ONE: ColumnElement[int] = literal_column("1")
"""A literal limit: with a parameter, PostgreSQL plans the statement anew at every execution."""
Text = str | ColumnElement[str]
KINDS = [kind.value for kind in QUEUED_KINDS]


def urgency(some: FromClause = tasks) -> tuple[ColumnElement[Any], ...]:
    """The most urgent first."""
    return (some.c.priority.desc(), some.c.due_at, some.c.task_id)


def queued(org_id: Text) -> ColumnElement[bool]:
    return and_(tasks.c.org_id == org_id, tasks.c.state == literal_column("'queued'"))


def due(org_id: Text, labels: Text) -> ColumnElement[bool]:
    """Queued for workers with these labels, and due ``at`` a time."""
    come = or_(tasks.c.due_at <= bindparam("at"), tasks.c.due_at > bindparam("too_far"))
    asked = and_(tasks.c.labels == labels, come, tasks.c.kind.in_(KINDS))
    return and_(queued(org_id), asked)


def heads(org_id: Text, limit: int | ColumnElement[int]) -> Select[Any]:
    """The most urgent tasks of each label set within ``labels``, SKIP LOCKED. PostgreSQL only."""
    from sqlalchemy.dialects.postgresql import ARRAY  # brings all drivers

    sets = each_value(tasks.c.labels, org_id).subquery("sets")
    of_set = select(tasks).where(due(org_id, sets.c.value)).order_by(*urgency()).limit(limit)
    found = of_set.with_for_update(skip_locked=True).lateral("found")
    asked = cast(func.string_to_array(sets.c.value, " "), ARRAY(String))
    return (
        select(found)
        .select_from(sets.join(found, true()))
        .where(asked.contained_by(bindparam("labels", type_=ARRAY(String))))
    )


def head(org_id: Text) -> Select[Any]:
    """The most urgent task for a worker with ``labels``, SKIP LOCKED. PostgreSQL only."""
    found = heads(org_id, ONE).subquery("heads")
    return select(found).order_by(*urgency(found)).limit(ONE)


def each_value(column: Column[Any], org_id: Text) -> Select[Any]:
    """Distinct values of an indexed column of queued tasks, by skip scan.

    Each step orders by the column, so even a planner without statistics uses the index.
    """
    least = select(column).where(queued(org_id)).order_by(column).limit(ONE)
    first = least.where(column.is_not(None)).scalar_subquery()
    found = select(first.label("value")).cte("found", recursive=True)
    after = least.where(column > found.c.value).scalar_subquery()
    every = found.union_all(select(after).where(found.c.value.is_not(None)))
    return select(every.c.value).where(every.c.value.is_not(None))
