"""Jobs whose time has come. A time is launched once: its task's key is the time itself."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection

from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.launching import launch
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.triggers import statements
from lakeguard.triggers.catching_up import MOST, Due, due_times, first_time
from lakeguard.triggers.roster import Roster, read_roster
from lakeguard_sdk.canonical import format_instant
from lakeguard_sdk.cron_zones import zone_of
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.job import CronTrigger, Launch

ACTOR = "trigger:cron"


def follow_definitions(heart: Heart, roster: Roster) -> None:
    """Every job's next time is that of its definition as it is now. One that is seen for the
    first time starts from now."""
    at = heart.clock()
    with heart.database.read() as connection:
        rows = _changed(connection, heart.org_id, roster, at)
    if rows:
        heart.database.transact(lambda connection: statements.set_schedules(connection, rows))


class Turn(NamedTuple):
    """What became of the schedules that were due."""

    launches: list[Launch]
    told: list[str]
    """Times that were left out."""
    strange: bool
    """Whether one is of another definition than is known here, and was left alone."""


def launch_due(heart: Heart, roster: Roster) -> Turn:
    """Launches what is due and moves each schedule on, both or neither, many at once.

    Of two dispatchers, each takes what the other has not taken yet. Where writers work side by
    side, one dispatcher does the same by itself: it makes rows while the server writes others.
    """
    at = heart.clock()
    with heart.database.read() as connection:
        waiting = connection.scalar(statements.count_due(heart.org_id, at)) or 0
    pieces = range(-(-waiting // statements.AT_ONCE))
    with ThreadPoolExecutor(heart.database.writers) as pool:
        turns = list(pool.map(lambda _: _launch_some(heart, roster, at), pieces))
    return Turn(
        [launch for turn in turns for launch in turn.launches],
        [said for turn in turns for said in turn.told],
        strange=any(turn.strange for turn in turns),
    )


def _launch_some(heart: Heart, roster: Roster, at: datetime) -> Turn:
    def jobs_now(connection: Connection) -> dict[str, CurrentJob]:
        return read_roster(connection, heart.org_id, roster).jobs

    def work(connection: Connection) -> Turn:
        rows = connection.execute(statements.take_due(heart.org_id, at)).all()
        wishes, moves, told = _owed(heart.org_id, rows, roster, at)
        launches = launch(connection, heart, wishes, jobs_now)
        reached("trigger.launched")
        statements.move_schedules(connection, moves)
        reached("trigger.moved")
        return Turn(launches, told, strange=len(moves) < len(rows))

    found = heart.database.transact(work)
    reached("trigger.committed")
    return found


def _changed(
    connection: Connection, org_id: str, roster: Roster, at: datetime
) -> list[dict[str, Any]]:
    known = {row.job_id: row for row in connection.execute(statements.schedules(org_id))}
    said_at: dict[str, datetime] | None = None
    rows = []
    for job in roster.jobs.values():
        before, cron = known.get(job.job_id), _schedule_of(job)
        if before is None and cron is None:
            continue
        if before is not None and before.definition_hash == job.definition_hash:
            continue
        if said_at is None:
            said_at = statements.revised_at(connection, org_id)
        owed = None if before is None else before.next_at
        rows.append(
            {
                "org_id": org_id,
                "job_id": job.job_id,
                "definition_hash": job.definition_hash,
                "next_at": None
                if cron is None
                else first_time(cron, said_at[job.job_id], at, owed),
                "applied": roster.applied,
            }
        )
    return rows


def _schedule_of(job: CurrentJob) -> CronTrigger | None:
    return job.controls.cron if job.active else None


def _owed(
    org_id: str, rows: Sequence[statements.AnyRow], roster: Roster, at: datetime
) -> tuple[list[Wish], list[dict[str, Any]], list[str]]:
    """What is launched, where each schedule moves on to, and what is told of times left out."""
    wishes: list[Wish] = []
    moves: list[dict[str, Any]] = []
    told: list[str] = []
    due_of: dict[tuple[CronTrigger, datetime], Due] = {}
    for job_id, definition_hash, next_at in map(tuple, rows):
        job = roster.jobs.get(job_id)
        if job is None or job.definition_hash != definition_hash:
            continue  # changed a moment ago: the next turn looks again
        cron = _schedule_of(job)
        if cron is None:
            continue
        due = due_of.get((cron, next_at)) or due_times(cron, next_at, at)
        due_of[cron, next_at] = due
        moves.append(
            {"org_id": org_id, "job_id": job_id, "next_at": due.next_at, "last_at": next_at}
        )
        if job_id in roster.ready:
            wishes += [_wish(job_id, cron.time_zone, moment) for moment in due.moments]
            if due.left_out:
                told.append(f"{job.name} missed more than {MOST} times; the latest are made up for")
    return wishes, moves, told


def _wish(job_id: str, zone: str, moment: datetime) -> Wish:
    key, cause, day = _said_of(zone, moment)
    return Wish(job_id=job_id, key=key, cause=cause, actor=ACTOR, day=day)


@lru_cache(maxsize=10_000)
def _said_of(zone: str, moment: datetime) -> tuple[str, Cause, date]:
    """Many jobs are due at one time."""
    text = format_instant(moment)
    cause = Cause(kind=CauseKind.CRON, details={"at": text})
    return f"cron:{text}", cause, moment.astimezone(zone_of(zone)).date()
