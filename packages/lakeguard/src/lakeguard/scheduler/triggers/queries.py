"""Every question that triggers ask the State, and how their places are kept."""

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
"""Schedules that one turn moves on; what is due beyond them waits for the next."""
AT_ONCE = 2_500
"""Schedules that one transaction moves on."""
LONGEST_REPORT = timedelta(minutes=10)
"""An end is committed later than it says by less than this."""


def schedules(org_id: str) -> Select[Any]:
    """Every schedule, with the definition that it was made under."""
    return select(job_schedules).where(job_schedules.c.org_id == org_id)


def count_due(org_id: str, at: datetime) -> Select[Any]:
    """Schedules whose next time has come, as many as one turn may take."""
    return select(func.count()).select_from(_due(org_id, at, MOST_IN_A_TURN).subquery())


def take_due(org_id: str, at: datetime) -> Select[Any]:
    """Those that are due the longest; nobody else takes them until the transaction ends, and none
    waits for them."""
    return _due(org_id, at, AT_ONCE).with_for_update(skip_locked=True)


def _due(org_id: str, at: datetime, limit: int) -> Select[Any]:
    table = job_schedules.c
    query = select(table.job_id, table.definition_hash, table.next_at)
    chosen = query.where(table.org_id == org_id, table.next_at <= at)
    return chosen.order_by(table.next_at, table.job_id).limit(limit)


def revised_at(tx: Transaction) -> dict[str, datetime]:
    """When each job was written or changed last."""
    table = md_jobs_revisions.c
    rows = tx.execute(
        select(table.job_id, func.max(table.revised_at).label("at"))
        .where(table.org_id == tx.org_id)
        .group_by(table.job_id)
    )
    return {row.job_id: row.at for row in rows}


def set_schedules(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """New schedules, and new times of those whose definition changed.

    Of two dispatchers that see a change, the first one's time stays; who read the definitions
    before that changes nothing.
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
    """The next time of many schedules, and the one that was due, at once."""
    update_all(tx, job_schedules, rows, ("org_id", "job_id"))


def cursors(tx: Transaction, job_ids: Iterable[str], kind: str) -> dict[tuple[str, str], str]:
    """How far jobs have come with what they watch, by job and what is watched."""
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
    """How far a job has come with these things, however many it has seen."""
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
    """Every dataset's id by its name of now."""
    table = dataset_registry.c
    return select(table.dataset_name, table.dataset_id).where(table.org_id == org_id)


def last_completed(org_id: str, job_ids: Collection[str]) -> Select[Any]:
    """Of each job, the task that ended well last and when; nulls where none did. As many looks
    into an index as there are jobs, however many tasks they have."""
    jobs = md_jobs_revisions.c

    def last(column: Column[Any]) -> ScalarSelect[Any]:
        ended = select(column).where(
            tasks.c.org_id == org_id, tasks.c.job_id == jobs.job_id, tasks.c.ended_at.is_not(None)
        )
        newest = ended.order_by(tasks.c.ended_at.desc(), tasks.c.task_id.desc()).limit(1)
        return newest.correlate(md_jobs_revisions).scalar_subquery()

    return select(
        jobs.job_id,
        last(tasks.c.ended_at).label("ended_at"),
        last(tasks.c.task_id).label("task_id"),
    ).where(jobs.org_id == org_id, jobs.job_id.in_(sorted(job_ids)), jobs.revision == 1)


def last_ends(tx: Transaction, job_ids: Collection[str]) -> list[AnyRow]:
    """The same for any number of jobs, without those of which no task ended well."""
    rows: list[AnyRow] = []
    for some in in_pieces(sorted(job_ids)):
        rows += tx.execute(last_completed(tx.org_id, some))
    return [row for row in rows if row.task_id is not None]


def ends_until(org_id: str, ends: Sequence[tuple[str, datetime]]) -> Select[Any]:
    """Of each job, given with its last end, how many of its tasks had ended well by then, among
    those that may be committed after it."""
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
    """The same for any number of jobs."""
    found: dict[str, int] = {}
    for some in in_pieces(sorted(ends.items())):
        rows = tx.execute(ends_until(tx.org_id, some))
        found.update({row.job_id: row.ends for row in rows})
    return found


def received(org_id: str, source: str, event_id: str) -> Select[Any]:
    """An event that came before."""
    table = received_events.c
    return select(received_events).where(
        table.org_id == org_id, table.source == source, table.event_id == event_id
    )


def last_ordinal(org_id: str) -> Select[Any]:
    """How many events were received."""
    table = received_events.c
    return select(func.coalesce(func.max(table.ordinal), 0)).where(table.org_id == org_id)
