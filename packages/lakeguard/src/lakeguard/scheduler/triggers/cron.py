"""Cron triggers. Each scheduled time launches once: the task key is the time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.triggerable_jobs import Roster, read_roster
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.scheduling.cron import Cron, parse_cron
from lakeguard_sdk.scheduling.cron_zones import next_moment, zone_of
from lakeguard_sdk.scheduling.jobs import CatchUp, CronTrigger, Launch
from lakeguard_sdk.storage.fault_points import reached

# Catch-up: which scheduled times to launch now. Pure.

MOST = 100
"""At most this many missed times per schedule are caught up, the latest ones."""
PUNCTUAL = timedelta(minutes=1)
"""A time that passed less than this ago is due, not missed."""


@dataclass(frozen=True)
class Due:
    """Times to launch now, oldest first, and the next one."""

    moments: tuple[datetime, ...]
    next_at: datetime | None
    left_out: bool = False
    """Whether more times were missed than are caught up."""


def first_time(
    trigger: CronTrigger, defined_at: datetime, now: datetime, before: datetime | None
) -> datetime | None:
    """The next time of a schedule that was created or changed at ``defined_at``.

    Old times are not launched, except a due time ``before`` of the former definition that this
    one has too.
    """
    cron, zone = parse_cron(trigger.schedule), zone_of(trigger.time_zone)
    if before is not None and before <= now:
        just_before = before - timedelta(microseconds=1)
        if next_moment(cron, zone, just_before) == before:
            return before
    return next_moment(cron, zone, max(defined_at, now - PUNCTUAL))


def due_times(trigger: CronTrigger, next_at: datetime, now: datetime) -> Due:
    """The times that a due schedule has to launch."""
    cron, zone = parse_cron(trigger.schedule), zone_of(trigger.time_zone)
    following = next_moment(cron, zone, next_at)
    if following is None or following > now:
        moments: tuple[datetime, ...] = (next_at,)
        more = False
    else:
        most = MOST if trigger.catch_up is CatchUp.ALL else 1
        moments, more = _latest(cron, zone, next_at, now, most)
        following = next_moment(cron, zone, now)
    if trigger.catch_up is CatchUp.NONE:
        moments = tuple(moment for moment in moments if now - moment <= PUNCTUAL)
    return Due(moments, following, left_out=more and trigger.catch_up is CatchUp.ALL)


def _latest(
    cron: Cron, zone: ZoneInfo, first: datetime, now: datetime, most: int
) -> tuple[tuple[datetime, ...], bool]:
    """The latest times from ``first`` until now, and whether earlier ones were dropped.

    Searches backwards in growing steps, so years of missed minutes cost no more than an hour.
    """
    back = timedelta(minutes=most)
    while True:
        begin = max(first, now - back)
        found = _between(cron, zone, begin, now)
        if len(found) >= most or begin == first:
            return tuple(found[-most:]), len(found) > most or begin > first
        back *= 4


def _between(cron: Cron, zone: ZoneInfo, begin: datetime, until: datetime) -> list[datetime]:
    found = []
    moment = next_moment(cron, zone, begin - timedelta(microseconds=1))
    while moment is not None and moment <= until:
        found.append(moment)
        moment = next_moment(cron, zone, moment)
    return found


ACTOR = "trigger:cron"


def follow_definitions(context: PlaneContext, roster: Roster) -> list[str]:
    """Update next times to the current definitions. New schedules start from now.

    A schedule whose next time is later than its definition says was advanced by a clock that was
    ahead: it goes on from now. Returns a warning for these.
    """
    at = context.clock()
    with context.read() as tx:
        rows = _changed(tx, roster, at)
        early = _ahead(tx, roster, at)
    if rows:
        context.transact(lambda tx: queries.set_schedules(tx, rows))
    if early:
        context.transact(lambda tx: queries.move_schedules(tx, early))
    return [_clock_warning(len(early))] if early else []


class Turn(NamedTuple):
    """Outcomes of due schedules."""

    launches: list[Launch]
    warnings: list[str]
    """Skipped times."""
    strange: bool
    """Whether a schedule with an unknown definition was left alone."""


def launch_due(context: PlaneContext, roster: Roster) -> Turn:
    """Launch due schedules and advance them, atomically and in bulk.

    Concurrent dispatchers take disjoint schedules. With concurrent writers one dispatcher runs
    two transactions at once: one prepares rows while the server writes the other's.
    """
    at = context.clock()
    with context.read() as tx:
        waiting = tx.scalar(queries.count_due(tx.org_id, at)) or 0
    pieces = range(-(-waiting // queries.AT_ONCE))
    with ThreadPoolExecutor(context.database.writers) as pool:
        turns = list(pool.map(lambda _: _launch_some(context, roster, at), pieces))
    return Turn(
        [launch for turn in turns for launch in turn.launches],
        [warning for turn in turns for warning in turn.warnings],
        strange=any(turn.strange for turn in turns),
    )


def _launch_some(context: PlaneContext, roster: Roster, at: datetime) -> Turn:
    def jobs_now(tx: Transaction) -> dict[str, CurrentJob]:
        return read_roster(tx, roster).jobs

    def work(tx: Transaction) -> Turn:
        rows = tx.execute(queries.take_due(tx.org_id, at)).all()
        requests, moves, warnings = _owed(tx.org_id, rows, roster, at)
        launches = launch(tx, context, requests, jobs_now)
        reached("trigger.launched")
        queries.move_schedules(tx, moves)
        reached("trigger.moved")
        return Turn(launches, warnings, strange=len(moves) < len(rows))

    found = context.transact(work)
    reached("trigger.committed")
    return found


def _changed(tx: Transaction, roster: Roster, at: datetime) -> list[dict[str, Any]]:
    known = {row.job_id: row for row in tx.execute(queries.schedules(tx.org_id))}
    defined_at: dict[str, datetime] | None = None
    rows = []
    for job in roster.jobs.values():
        before, cron = known.get(job.job_id), _schedule_of(job)
        if before is None and cron is None:
            continue
        if before is not None and before.definition_hash == job.definition_hash:
            continue
        if defined_at is None:
            defined_at = queries.revised_at(tx)
        owed = None if before is None else before.next_at
        rows.append(
            {
                "org_id": tx.org_id,
                "job_id": job.job_id,
                "definition_hash": job.definition_hash,
                "next_at": None
                if cron is None
                else first_time(cron, defined_at[job.job_id], at, owed),
                "applied": roster.applied,
            }
        )
    return rows


def _ahead(tx: Transaction, roster: Roster, at: datetime) -> list[dict[str, Any]]:
    """Schedules whose next time is later than the next one from now."""
    moves = []
    for row in tx.execute(queries.schedules(tx.org_id)):
        job = roster.jobs.get(row.job_id)
        cron = None if job is None else _schedule_of(job)
        if cron is None or job is None or job.definition_hash != row.definition_hash:
            continue
        expected = _next_from(cron, at)
        if row.next_at is not None and expected is not None and row.next_at > expected:
            move = {"next_at": expected, "last_at": row.last_at}
            moves.append({"org_id": tx.org_id, "job_id": row.job_id, **move})
    return moves


@lru_cache(maxsize=10_000)
def _next_from(trigger: CronTrigger, at: datetime) -> datetime | None:
    return next_moment(parse_cron(trigger.schedule), zone_of(trigger.time_zone), at)


def _clock_warning(schedules: int) -> str:
    return f"the clock went back; schedules that were ahead of it continue from now: {schedules:,}"


def _schedule_of(job: CurrentJob) -> CronTrigger | None:
    return job.controls.cron if job.active else None


def _owed(
    org_id: str, rows: Sequence[queries.AnyRow], roster: Roster, at: datetime
) -> tuple[list[LaunchRequest], list[dict[str, Any]], list[str]]:
    """Launch requests, new schedule positions, and warnings about skipped times."""
    requests: list[LaunchRequest] = []
    moves: list[dict[str, Any]] = []
    warnings: list[str] = []
    due_of: dict[tuple[CronTrigger, datetime], Due] = {}
    for job_id, definition_hash, next_at in map(tuple, rows):
        job = roster.jobs.get(job_id)
        if job is None or job.definition_hash != definition_hash:
            continue  # just changed: the next tick handles it
        cron = _schedule_of(job)
        if cron is None:
            continue
        due = due_of.get((cron, next_at)) or due_times(cron, next_at, at)
        due_of[cron, next_at] = due
        moves.append(
            {"org_id": org_id, "job_id": job_id, "next_at": due.next_at, "last_at": next_at}
        )
        if job_id in roster.ready:
            requests += [_request(job_id, cron.time_zone, moment) for moment in due.moments]
            if due.left_out:
                warnings.append(
                    f"{job.name} missed more than {MOST} times; the latest are made up for"
                )
    return requests, moves, warnings


def _request(job_id: str, zone: str, moment: datetime) -> LaunchRequest:
    key, cause, day = _launch_terms(zone, moment)
    return LaunchRequest(job_id=job_id, key=key, cause=cause, actor=ACTOR, day=day)


@lru_cache(maxsize=10_000)
def _launch_terms(zone: str, moment: datetime) -> tuple[str, Cause, date]:
    """Cached: many jobs are due at the same time."""
    text = format_instant(moment)
    cause = Cause(kind=CauseKind.CRON, details={"at": text})
    return f"cron:{text}", cause, moment.astimezone(zone_of(zone)).date()
