"""Which times of a schedule are launched now, after nobody looked for a while. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from lakeguard_sdk.cron import Cron, parse_cron
from lakeguard_sdk.cron_zones import next_moment, zone_of
from lakeguard_sdk.job import CatchUp, CronTrigger

MOST = 100
"""So many times of one schedule are caught up with at once, the latest of them."""
PUNCTUAL = timedelta(minutes=1)
"""A time that passed no longer ago than this is not one that was missed."""


@dataclass(frozen=True)
class Due:
    """Times to launch now, the oldest first, and the one to wait for after them."""

    moments: tuple[datetime, ...]
    next_at: datetime | None
    left_out: bool = False
    """Times that passed were more than are caught up with."""


def first_time(
    trigger: CronTrigger, said_at: datetime, now: datetime, before: datetime | None
) -> datetime | None:
    """When a schedule that was written or changed at ``said_at`` comes next.

    Times of long ago are not owed. A time ``before``, that had come under the former definition
    and is named by this one too, is.
    """
    cron, zone = parse_cron(trigger.schedule), zone_of(trigger.time_zone)
    if before is not None and before <= now:
        just_before = before - timedelta(microseconds=1)
        if next_moment(cron, zone, just_before) == before:
            return before
    return next_moment(cron, zone, max(said_at, now - PUNCTUAL))


def due_times(trigger: CronTrigger, next_at: datetime, now: datetime) -> Due:
    """What a schedule that is due owes by now."""
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
    """The latest times from ``first`` until now, and whether there are others before them.

    Looks back further and further, so that years of minutes cost no more than an hour of them.
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
