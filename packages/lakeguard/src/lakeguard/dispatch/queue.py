"""Queries of the queue.

Hot statements are built once and parameterised, with ``at`` for the current time; see
``queue_order`` for what is due.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    String,
    and_,
    bindparam,
    func,
    or_,
    select,
    true,
    union_all,
)

from lakeguard.state import queue_order
from lakeguard.state.queue_order import KINDS, ONE, due, each_value, queued, urgency
from lakeguard.state.schema import (
    dataset_registry_revisions,
    job_switches,
    md_jobs,
    md_jobs_revisions,
    task_transitions,
    tasks,
)
from lakeguard.state.views.views import dataset_registry
from lakeguard_sdk.core.enums import TaskState

_OTHERS = 8
"""Extra rows read, for those that other workers hold."""


@lru_cache(maxsize=100)
def label_sets(org_id: str) -> Select[Any]:
    """Distinct label sets of queued tasks, by index skip scan."""
    return each_value(tasks.c.labels, org_id)


def waiting_jobs(org_id: str) -> Select[Any]:
    """Jobs with queued tasks and their running counts, by index skip scan."""
    waiting = each_value(tasks.c.job_id, org_id).subquery("waiting")
    running = (
        select(func.count())
        .select_from(tasks)
        .where(
            tasks.c.org_id == org_id,
            tasks.c.job_id == waiting.c.value,
            tasks.c.state == TaskState.RUNNING.value,
        )
    )
    return select(waiting.c.value, running.scalar_subquery())


@lru_cache(maxsize=1_000)
def head(org_id: str, labels: str, limit: int) -> Select[Any]:
    """The most urgent tasks with exactly these labels, SKIP LOCKED."""
    found = select(tasks).where(due(org_id, labels)).order_by(*urgency()).limit(limit)
    return found.with_for_update(skip_locked=True)


@lru_cache(maxsize=1_000)
def heads(org_id: str, limit: int) -> Select[Any]:
    """The most urgent tasks of each label set within ``labels``, SKIP LOCKED. PostgreSQL only."""
    return queue_order.heads(org_id, limit)


def named(org_id: str, task_id: str) -> Select[Any]:
    """One queued task, due or not; none if locked."""
    return (
        select(tasks)
        .where(queued(org_id), tasks.c.task_id == task_id, tasks.c.kind.in_(KINDS))
        .with_for_update(skip_locked=True)
    )


def head_of_no_job(org_id: str, labels: str, limit: int) -> Select[Any]:
    """The most urgent tasks without a job."""
    return head(org_id, labels, limit).where(tasks.c.job_id.is_(None))


def head_without(org_id: str, labels: str, limit: int, job_ids: Collection[str]) -> Select[Any]:
    """The most urgent tasks of other jobs; tasks of these are scanned past."""
    others = or_(tasks.c.job_id.is_(None), tasks.c.job_id.not_in(job_ids))
    return head(org_id, labels, limit).where(others)


def head_of_jobs(org_id: str, labels: str, limit: int, job_ids: Collection[str]) -> Select[Any]:
    """The most urgent tasks of some jobs, by index lookup per job.

    The first n tasks belong to at most n jobs, so only those are read further, plus a few rows for
    tasks that others hold.
    """
    from sqlalchemy.dialects.postgresql import ARRAY

    more = 2 * limit + _OTHERS
    given = func.unnest(bindparam("jobs", sorted(job_ids), ARRAY(String)))
    wanted = given.table_valued("job_id", name="wanted").render_derived()
    first = _firsts(org_id, labels, wanted, 1, "first")
    jobs = select(wanted.c.job_id).select_from(wanted.join(first, true()))
    ahead = jobs.order_by(*urgency(first)).limit(more).subquery("ahead")
    each = _firsts(org_id, labels, ahead, more, "each")
    chosen = select(each).select_from(ahead.join(each, true()))
    near = chosen.order_by(*urgency(each)).limit(more).subquery("near")
    found = select(tasks).join(near, near.c.task_id == tasks.c.task_id)
    still = found.where(tasks.c.state == TaskState.QUEUED.value)
    return still.order_by(*urgency(near)).limit(limit).with_for_update(skip_locked=True, of=tasks)


def _firsts(org_id: str, labels: str, jobs: FromClause, limit: int, name: str) -> FromClause:
    """The first few tasks of each job."""
    found = select(tasks.c.task_id, tasks.c.priority, tasks.c.due_at).where(
        due(org_id, labels), tasks.c.job_id == jobs.c.job_id
    )
    return found.order_by(*urgency()).limit(limit).lateral(name)


@cache
def jobs_now() -> Select[Any]:
    """Latest revisions of jobs ``job_ids`` of ``org_id``, with switch and running count."""
    view = md_jobs.c
    running = select(func.count()).where(
        tasks.c.org_id == view.org_id,
        tasks.c.job_id == view.job_id,
        tasks.c.state == TaskState.RUNNING.value,
    )
    return select(
        view.job_id,
        view.definition,
        view.definition_hash,
        _switch(view.org_id, view.job_id).label("enabled"),
        running.scalar_subquery().label("running"),
    ).where(
        view.org_id == bindparam("org_id"),
        view.job_id.in_(bindparam("job_ids", expanding=True)),
        view.revision > 0,
    )


def _switch(org_id: str | ColumnElement[str], job_id: ColumnElement[str]) -> ColumnElement[Any]:
    """Whether the job was last switched on; None if it never was switched."""
    switch = job_switches.c
    return (
        select(switch.enabled)
        .where(switch.org_id == org_id, switch.job_id == job_id)
        .order_by(switch.number.desc())
        .limit(ONE)
        .scalar_subquery()
    )


def is_last_transition() -> ColumnElement[bool]:
    """Join condition: the task's last transition."""
    return and_(
        task_transitions.c.org_id == tasks.c.org_id,
        task_transitions.c.task_id == tasks.c.task_id,
        task_transitions.c.number == tasks.c.changes,
    )


def tasks_under(org_id: str, key: str) -> Select[Any]:
    """Tasks under one key across all jobs, removed ones included, with their last transition."""
    jobs, datasets = md_jobs_revisions.c, dataset_registry_revisions.c
    subjects = union_all(
        select(jobs.job_id).where(jobs.org_id == org_id, jobs.revision == 1),
        select(datasets.dataset_id).where(datasets.org_id == org_id, datasets.revision == 1),
    )
    return tasks_and_why(org_id).where(tasks.c.dataset_id.in_(subjects), tasks.c.dedupe_key == key)


def tasks_and_why(org_id: str) -> Select[Any]:
    """Tasks with subject, key and last transition."""
    return (
        select(
            tasks.c.job_id,
            tasks.c.task_id,
            tasks.c.dataset_id,
            tasks.c.dedupe_key,
            tasks.c.state,
            task_transitions.c.code,
            task_transitions.c.message,
        )
        .outerjoin(task_transitions, is_last_transition())
        .where(tasks.c.org_id == org_id)
    )


def names_of_datasets(org_id: str, dataset_ids: Collection[str]) -> Select[Any]:
    view = dataset_registry.c
    return select(view.dataset_id, view.dataset_name).where(
        view.org_id == org_id, view.dataset_id.in_(dataset_ids)
    )
