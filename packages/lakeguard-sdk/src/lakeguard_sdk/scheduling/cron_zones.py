"""Converts cron schedules to UTC, with daylight saving time.

A schedule for every hour follows elapsed time: it fires in both repeated hours, and not at skipped
times. Any other fires once per local time: the first of two repeated times, and once after the
change for all skipped times together.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeguard_sdk.scheduling.cron import Cron, parse_cron

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


@lru_cache(maxsize=1_000)
def zone_of(name: str) -> ZoneInfo:
    """Raises ValueError if the zone is unknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r:.60} is no time zone: write one such as Europe/Berlin") from None


def schedule_problems(schedule: str, zone: str = "UTC") -> list[str]:
    """Errors in a schedule and its zone; empty if both are valid."""
    problems = []
    for check, text in ((parse_cron, schedule), (zone_of, zone)):
        try:
            check(text)
        except ValueError as problem:
            problems.append(str(problem))
    return problems


def next_moment(cron: Cron, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first time of the schedule after ``after``; None if there is none."""
    after = after.astimezone(UTC)
    if zone.key == "UTC":
        found = cron.next_wall(_minute_after(after.replace(tzinfo=None)))
        return None if found is None else found.replace(tzinfo=UTC)
    here = after.astimezone(zone)
    wall = _minute_after(here.replace(tzinfo=None, fold=0))
    ordinary = _under_same_clock(cron, zone, after, here, wall)
    if ordinary is not None:
        return ordinary
    if cron.every_hour and not here.fold and _is_twice(here):
        return _in_first_of_two(cron, zone, after, here)
    return _from_wall(cron, zone, after, wall)


def _under_same_clock(
    cron: Cron, zone: ZoneInfo, after: datetime, here: datetime, wall: datetime
) -> datetime | None:
    """Fast path if the offset does not change until then; otherwise None."""
    found = cron.next_wall(wall)
    if found is None or here.fold or found - wall > _DAY:
        return None
    moment = after + (found - here.replace(tzinfo=None))
    there = moment.astimezone(zone)
    return moment if there.utcoffset() == here.utcoffset() and not there.fold else None


def _from_wall(cron: Cron, zone: ZoneInfo, after: datetime, wall: datetime) -> datetime | None:
    """The first time after ``after`` whose local time is ``wall`` or later."""
    found = cron.next_wall(wall)
    while found is not None:
        moment = _moment_of(cron, zone, after, found)
        if moment is not None:
            return moment
        found = cron.next_wall(found + _MINUTE)
    return None


def _moment_of(cron: Cron, zone: ZoneInfo, after: datetime, wall: datetime) -> datetime | None:
    first = wall.replace(tzinfo=zone).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) != wall:  # skipped on that day
        moment = None if cron.every_hour else _change(zone, wall)
        return moment if moment is not None and moment > after else None
    if first > after:
        return first
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return second if cron.every_hour and second > after else None


def _in_first_of_two(
    cron: Cron, zone: ZoneInfo, after: datetime, here: datetime
) -> datetime | None:
    """In the first of two repeated hours: first the times before the change, then those after."""
    wall = here.replace(tzinfo=None, fold=0)
    change = _change(zone, wall)
    found = cron.next_wall(_minute_after(wall))
    first = None if found is None else found.replace(tzinfo=zone).astimezone(UTC)
    if first is not None and first < change:
        return first
    again = change.astimezone(zone).replace(tzinfo=None, fold=0)
    return _from_wall(cron, zone, change - timedelta(seconds=1), _minute_up(again))


def _change(zone: ZoneInfo, wall: datetime) -> datetime:
    """The instant of the offset change that skips or repeats a local time."""
    sides = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    low, high = min(sides), max(sides)
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def _is_twice(here: datetime) -> bool:
    return here.replace(fold=0).utcoffset() != here.replace(fold=1).utcoffset()


def _minute_after(wall: datetime) -> datetime:
    return wall.replace(second=0, microsecond=0) + _MINUTE


def _minute_up(wall: datetime) -> datetime:
    whole = wall.replace(second=0, microsecond=0)
    return whole if whole == wall else whole + _MINUTE
