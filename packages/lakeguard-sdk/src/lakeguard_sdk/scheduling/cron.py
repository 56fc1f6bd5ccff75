"""Cron expressions in local time; ``cron_zones`` converts to UTC.

    ┌ minute 0-59
    │ ┌ hour 0-23
    │ │ ┌ day of the month 1-31
    │ │ │ ┌ month 1-12 or jan-dec
    │ │ │ │ ┌ day of the week 0-7 or sun-sat; 0 and 7 are Sunday
    * * * * *

A field is ``*``, or a list of values and ranges; a star or a range may have a step: ``*/15``,
``9-17/2``. If both day fields are restricted, either matches, as in POSIX. Not supported: ``L``,
``W``, ``?``, ``#``, seconds, and descending ranges.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache

WORDS = {
    "hourly": "0 * * * *",
    "daily": "0 0 * * *",
    "weekly": "0 0 * * 0",
    "monthly": "0 0 1 * *",
    "yearly": "0 0 1 1 *",
}
_MONTHS = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905 - words
_DAYS = tuple("sun mon tue wed thu fri sat".split())  # noqa: SIM905 - words
_PART = re.compile(r"(\*|[a-z0-9]{1,3}(?:-[a-z0-9]{1,3})?)(?:/([0-9]{1,3}))?\Z")
_YEARS = 9
"""29 February is at most eight years away, also around a century."""


@dataclass(frozen=True)
class _Field:
    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()

    def value(self, text: str) -> int:
        if text in self.names:
            return self.first + self.names.index(text)
        if not text.isdecimal() or not self.first <= int(text) <= self.last:
            raise ValueError(f"{text!r} is no {self.name} ({self.first}-{self.last})")
        return int(text)

    def values(self, text: str) -> tuple[int, ...]:
        found: set[int] = set()
        for part in text.split(","):
            found.update(self._part(part))
        return tuple(sorted(found))

    def _part(self, text: str) -> range:
        match = _PART.match(text)
        if match is None:
            raise ValueError(f"{text!r} is no {self.name}: write *, 5, 1-5, */5 or 1-9/2")
        span, step = match[1], match[2]
        if step is not None and (int(step) == 0 or (span != "*" and "-" not in span)):
            raise ValueError(f"{text!r} is no {self.name}: a step is above 0 and follows * or a-b")
        low, dash, high = span.partition("-")
        first = self.first if span == "*" else self.value(low)
        last = self.last if span == "*" else self.value(high) if dash else first
        if last < first:
            raise ValueError(f"{text!r} is no {self.name}: the range goes backwards")
        return range(first, last + 1, int(step or 1))


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)


@dataclass(frozen=True)
class Cron:
    """Local times; each field is sorted and not empty."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: tuple[int, ...]
    weekdays: frozenset[int]
    """Sunday is 0."""
    any_day: bool
    any_weekday: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def on_day(self, day: date) -> bool:
        return day.month in self.months and self._on(day.day, (day.weekday() + 1) % 7)

    def next_wall(self, wall: datetime) -> datetime | None:
        """The first match at or after this minute; None if there is none."""
        today = self._on_same_day(wall) if self.on_day(wall) else None
        if today is not None:
            return today
        day = self._next_day(wall.date())
        return None if day is None else datetime.combine(day, time(self.hours[0], self.minutes[0]))

    def _on_same_day(self, wall: datetime) -> datetime | None:
        if wall.hour in self.hours:
            for minute in self.minutes:
                if minute >= wall.minute:
                    return wall.replace(minute=minute)
        for hour in self.hours:
            if hour > wall.hour:
                return wall.replace(hour=hour, minute=self.minutes[0])
        return None

    def _next_day(self, before: date) -> date | None:
        day = before + timedelta(days=1)
        while day.year <= min(before.year + _YEARS, 9998):
            if day.month not in self.months:
                day = _month_after(day)
            elif self._on(day.day, (day.weekday() + 1) % 7):
                return day
            else:
                day += timedelta(days=1)
        return None

    def _on(self, day: int, weekday: int) -> bool:
        if self.any_day or self.any_weekday:
            return day in self.days and weekday in self.weekdays
        return day in self.days or weekday in self.weekdays


@lru_cache(maxsize=20_000)
def parse_cron(text: str) -> Cron:
    """Raises ValueError if the expression is invalid or never matches."""
    plain = " ".join(text.lower().split())
    fields = WORDS.get(plain, plain).split()
    if len(fields) != len(_FIELDS):
        words = ", ".join(WORDS)
        raise ValueError(
            f"{text!r:.60} is no schedule: write five fields of cron, or one of {words}"
        )
    minutes, hours, days, months, weekdays = (
        field.values(text) for field, text in zip(_FIELDS, fields, strict=True)
    )
    cron = Cron(
        minutes=minutes,
        hours=hours,
        days=frozenset(days),
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=fields[2] == "*",
        any_weekday=fields[4] == "*",
    )
    if cron.next_wall(datetime(2000, 1, 1)) is None:  # noqa: DTZ001 - a wall has no zone
        raise ValueError(f"{text!r:.60} never comes: no month of it has such a day")
    return cron


def _month_after(day: date) -> date:
    length = monthrange(day.year, day.month)[1]
    return day.replace(day=length) + timedelta(days=1)
