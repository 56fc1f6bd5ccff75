"""Queries of the triggers, and storage of their cursors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Column,
    Row,
    ScalarSelect,
    Select,
    String,
    column,
    func,
    select,
    values,
)

from lakeguard.state.bulk_writes import in_pieces, insert_into, update_all
from lakeguard.state.clock import CLOCK_SLACK
from lakeguard.state.schema import (
    dataset_registry,
    job_schedules,
    md_jobs_revisions,
    received_events,
    tasks,
    trigger_cursors,
)
from lakeguard.state.tables.metadata import UtcTime
from lakeguard.state.transaction import Transaction

AnyRow = Row[Any]
MOST_IN_A_TURN = 20_000
"""Schedules advanced per tick; further due ones wait."""
AT_ONCE = 2_500
"""Schedules advanced per transaction."""
LONGEST_REPORT = timedelta(minutes=10)
"""An end commits at most this long after its timestamp."""


def schedules(org_id: str) -> Select[Any]:
    """Every schedule with its definition hash."""
    return select(job_schedules).where(job_schedules.c.org_id == org_id)


def count_due(org_id: str, at: datetime) -> Select[Any]:
    """Due schedules, up to the limit of a tick."""
    return select(func.count()).select_from(_due(org_id, at, MOST_IN_A_TURN).subquery())


def take_due(org_id: str, at: datetime) -> Select[Any]:
    """The longest overdue schedules, locked with SKIP LOCKED until the transaction ends."""
    return _due(org_id, at, AT_ONCE).with_for_update(skip_locked=True)


def _due(org_id: str, at: datetime, limit: int) -> Select[Any]:
    table = job_schedules.c
    query = select(table.job_id, table.definition_hash, table.next_at)
    chosen = query.where(table.org_id == org_id, table.next_at <= at)
    return chosen.order_by(table.next_at, table.job_id).limit(limit)


def revised_at(tx: Transaction) -> dict[str, datetime]:
    """When each job was last revised."""
    table = md_jobs_revisions.c
    rows = tx.execute(
        select(table.job_id, func.max(table.revised_at).label("at"))
        .where(table.org_id == tx.org_id)
        .group_by(table.job_id)
    )
    return {row.job_id: row.at for row in rows}


def set_schedules(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Insert new schedules, and update those whose definition changed.

    The first dispatcher to see a change wins; one with older definitions changes nothing.
    """
    new = insert_into(tx, job_schedules)
    changed = new.on_conflict_do_update(
        index_elements=["org_id", "job_id"],
        set_={
            "definition_hash": new.excluded.definition_hash,
            "next_at": new.excluded.next_at,
            "applied": new.excluded.applied,
        },
        where=(job_schedules.c.definition_hash != new.excluded.definition_hash)
        & (job_schedules.c.applied < new.excluded.applied),
    )
    tx.execute(changed, list(rows))


def move_schedules(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Set next and due times of many schedules at once."""
    update_all(tx, job_schedules, rows, ("org_id", "job_id"))


def cursors(tx: Transaction, job_ids: Iterable[str], kind: str) -> dict[tuple[str, str], str]:
    """Cursors by job and watched item."""
    wanted = sorted(job_ids)
    table = trigger_cursors.c
    found: dict[tuple[str, str], str] = {}
    for piece in in_pieces(wanted):
        rows = tx.execute(
            select(table.job_id, table.watched, table.position).where(
                table.org_id == tx.org_id,
                table.job_id.in_(piece),
                table.watched.startswith(f"{kind}:", autoescape=True),
            )
        )
        found.update({(row.job_id, row.watched): row.position for row in rows})
    return found


def cursors_in(tx: Transaction, job_id: str, watched: Iterable[str]) -> dict[str, str]:
    """Cursors of a job for these items only."""
    wanted = sorted(watched)
    table = trigger_cursors.c
    found: dict[str, str] = {}
    for piece in in_pieces(wanted):
        rows = tx.execute(
            select(table.watched, table.position).where(
                table.org_id == tx.org_id,
                table.job_id == job_id,
                table.watched.in_(piece),
            )
        )
        found.update({row.watched: row.position for row in rows})
    return found


def set_cursors(tx: Transaction, moves: dict[tuple[str, str], str]) -> None:
    if not moves:
        return
    new = insert_into(tx, trigger_cursors)
    rows = [
        {"org_id": tx.org_id, "job_id": job_id, "watched": watched, "position": position}
        for (job_id, watched), position in moves.items()
    ]
    tx.execute(
        new.on_conflict_do_update(
            index_elements=["org_id", "job_id", "watched"],
            set_={"position": new.excluded.position},
        ),
        rows,
    )


def dataset_ids(org_id: str) -> Select[Any]:
    """Dataset ids by current name."""
    table = dataset_registry.c
    return select(table.dataset_name, table.dataset_id).where(table.org_id == org_id)


def last_completed(org_id: str, job_ids: Collection[str], until: datetime) -> Select[Any]:
    """The last successful task per job, or nulls. One index lookup per job, however many tasks.

    Ends after ``until`` were recorded by a clock that was wrong; they hide no later end.
    """
    jobs = md_jobs_revisions.c

    def last(column: Column[Any]) -> ScalarSelect[Any]:
        ended = select(column).where(
            tasks.c.org_id == org_id,
            tasks.c.job_id == jobs.job_id,
            tasks.c.ended_at.is_not(None),
            tasks.c.ended_at <= until,
        )
        newest = ended.order_by(tasks.c.ended_at.desc(), tasks.c.task_id.desc()).limit(1)
        return newest.correlate(md_jobs_revisions).scalar_subquery()

    return select(
        jobs.job_id,
        last(tasks.c.ended_at).label("ended_at"),
        last(tasks.c.task_id).label("task_id"),
    ).where(jobs.org_id == org_id, jobs.job_id.in_(sorted(job_ids)), jobs.revision == 1)


def last_ends(tx: Transaction, job_ids: Collection[str]) -> list[AnyRow]:
    """The same for any number of jobs, omitting those without a successful task."""
    rows: list[AnyRow] = []
    for some in in_pieces(sorted(job_ids)):
        rows += tx.execute(last_completed(tx.org_id, some, tx.now() + CLOCK_SLACK))
    return [row for row in rows if row.task_id is not None]


def ends_until(org_id: str, ends: Sequence[tuple[str, datetime]]) -> Select[Any]:
    """Successful tasks per job up to its last end, within the window for late commits."""
    spans = values(column("job_id", String), column("since", UtcTime), column("until", UtcTime))
    given = spans.data([(job_id, at - LONGEST_REPORT, at) for job_id, at in ends]).cte("given")
    counted = select(func.count()).where(
        tasks.c.org_id == org_id,
        tasks.c.job_id == given.c.job_id,
        tasks.c.ended_at.is_not(None),
        tasks.c.ended_at > given.c.since,
        tasks.c.ended_at <= given.c.until,
    )
    return select(given.c.job_id, counted.correlate(given).scalar_subquery().label("ends"))


def count_ends(tx: Transaction, ends: Mapping[str, datetime]) -> dict[str, int]:
    """The same, for any number of jobs."""
    found: dict[str, int] = {}
    for some in in_pieces(sorted(ends.items())):
        rows = tx.execute(ends_until(tx.org_id, some))
        found.update({row.job_id: row.ends for row in rows})
    return found


def received(org_id: str, source: str, event_id: str) -> Select[Any]:
    """A received event."""
    table = received_events.c
    return select(received_events).where(
        table.org_id == org_id, table.source == source, table.event_id == event_id
    )


def last_ordinal(org_id: str) -> Select[Any]:
    """The number of received events."""
    table = received_events.c
    return select(func.coalesce(func.max(table.ordinal), 0)).where(table.org_id == org_id)
