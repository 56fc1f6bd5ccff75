"""The moments of a schedule in a zone, also in nights in which clocks are put forward or back.

A schedule that names every hour goes by real time: it comes in both of two equal hours, and not
at times that are left out. Any other comes once for each time that it names: a time that is there
twice counts the first time, and times that are left out count once, together, when the clock goes
on.
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
    """ValueError where no zone has this name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r:.60} is no time zone: write one such as Europe/Berlin") from None


def schedule_problems(schedule: str, zone: str = "UTC") -> list[str]:
    """What is wrong with a schedule and its zone, in words; nothing where they are right."""
    problems = []
    for check, text in ((parse_cron, schedule), (zone_of, zone)):
        try:
            check(text)
        except ValueError as problem:
            problems.append(str(problem))
    return problems


def next_moment(cron: Cron, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first moment of the schedule that is later than ``after``; None if there is none."""
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
    """The answer where no clock is changed until then, as on nearly every day; None elsewhere."""
    found = cron.next_wall(wall)
    if found is None or here.fold or found - wall > _DAY:
        return None
    moment = after + (found - here.replace(tzinfo=None))
    there = moment.astimezone(zone)
    return moment if there.utcoffset() == here.utcoffset() and not there.fold else None


def _from_wall(cron: Cron, zone: ZoneInfo, after: datetime, wall: datetime) -> datetime | None:
    """The first moment later than ``after`` of a time from ``wall`` on."""
    found = cron.next_wall(wall)
    while found is not None:
        moment = _moment_of(cron, zone, after, found)
        if moment is not None:
            return moment
        found = cron.next_wall(found + _MINUTE)
    return None


def _moment_of(cron: Cron, zone: ZoneInfo, after: datetime, wall: datetime) -> datetime | None:
    first = wall.replace(tzinfo=zone).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) != wall:  # it is left out that day
        moment = None if cron.every_hour else _change(zone, wall)
        return moment if moment is not None and moment > after else None
    if first > after:
        return first
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return second if cron.every_hour and second > after else None


def _in_first_of_two(
    cron: Cron, zone: ZoneInfo, after: datetime, here: datetime
) -> datetime | None:
    """Equal times come once more: those before the change go first, then all from it on."""
    wall = here.replace(tzinfo=None, fold=0)
    change = _change(zone, wall)
    found = cron.next_wall(_minute_after(wall))
    first = None if found is None else found.replace(tzinfo=zone).astimezone(UTC)
    if first is not None and first < change:
        return first
    again = change.astimezone(zone).replace(tzinfo=None, fold=0)
    return _from_wall(cron, zone, change - timedelta(seconds=1), _minute_up(again))


def _change(zone: ZoneInfo, wall: datetime) -> datetime:
    """When the clock is changed, of a time that is left out by that or is there twice."""
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
