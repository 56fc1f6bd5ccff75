"""Rules about dates and times: not before all that came so far, not in the future, not stale."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from math import ceil

from lakeguard.gate.scalars import NotAValue, as_scalar
from lakeguard.insight.suggesting.seen import Earlier, Seen
from lakeguard.insight.suggesting.spelling import call, counted_values, ends, literal, spelt, text
from lakeguard.insight.suggesting.suggestion import Draft, Mutation, MutationKind, one_set
from lakeguard_sdk.profile import ColumnProfile

_MONTH = timedelta(days=31)
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_FRESH = timedelta(days=30)
_ENOUGH_VERSIONS = 3
_LATEST = {
    "date": "9999-12-31",
    "timestamp": "9999-12-31T00:00:00Z",
    "timestamp_ntz": "9999-12-31T00:00:00",
}


def times(column: ColumnProfile, seen: Seen) -> Iterator[Draft]:
    values = seen.rows - column.nulls
    found = ends(column)
    if found is None or not values:
        return
    least, greatest = found
    if not isinstance(least, date) or not isinstance(greatest, date):
        return
    yield from _not_before(column, (least, greatest), values)
    if _moment(greatest) <= seen.at:
        yield from _not_future(column, greatest, values)
    yield from _fresh(column, seen, values)


def _not_before(column: ColumnProfile, found: tuple[date, date], values: int) -> Iterator[Draft]:
    """Half of the spread before the first, at least a month, from the first of a month."""
    least, greatest = found
    try:
        early = least - max((greatest - least) / 2, _MONTH)
        low = early.replace(day=1)
        before = low - _DAY
    except (OverflowError, ValueError):
        return
    if isinstance(low, datetime) and isinstance(before, datetime):
        low = low.replace(hour=0, minute=0, second=0, microsecond=0)
        before = low - _HOUR
    told = f"{_day(least)} to {_day(greatest)}"
    yield Draft(
        rule=call("range", column.column, min=literal(low, column.type)),
        column=column.column,
        about="values",
        why=f"{counted_values(values)} of {told}, and half as long before is allowed",
        support=values,
        strength=0.72,
        mutation=one_set(column, spelt(before, column.type)),
    )


def _not_future(column: ColumnProfile, greatest: date, values: int) -> Iterator[Draft]:
    yield Draft(
        rule=call("not_future", column.column),
        column=column.column,
        about="future",
        why=f"{values:,} values lie in the past, the last of them {_day(greatest)}",
        support=values,
        strength=0.75,
        mutation=one_set(column, _LATEST[column.type]),
    )


def _fresh(column: ColumnProfile, seen: Seen, values: int) -> Iterator[Draft]:
    """Twice the age that the newest value ever had when a version was published."""
    ages = [age for version in seen.versions for age in _age(column, version)]
    if len(ages) < _ENOUGH_VERSIONS or min(ages) < timedelta(0) or max(ages) > _FRESH:
        return
    limit = max(2 * max(ages), _HOUR)
    hours = ceil(limit / _HOUR)
    told = f"{ceil(limit / _DAY)}d" if hours > 48 else f"{hours}h"
    stale = (seen.at - 2 * limit - _DAY).replace(microsecond=0)
    value = stale.date() if column.type == "date" else stale
    yield Draft(
        rule=call("freshness", column.column, max=text(told)),
        column=column.column,
        about="age",
        why=f"the newest value was at most {_span(max(ages))} old in each of {len(ages)} versions"
        ", and twice that is allowed",
        support=values,
        strength=0.8,
        mutation=Mutation(
            kind=MutationKind.SET_ALL,
            column=column.column,
            type=column.type,
            value=spelt(value, column.type),
        ),
    )


def _age(column: ColumnProfile, version: Earlier) -> Iterator[timedelta]:
    try:
        newest = as_scalar(version.greatest.get(column.column), column.type)
    except NotAValue:
        return
    if isinstance(newest, date):
        yield version.at - _moment(newest)


def _moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time(), UTC)


def _day(value: date) -> str:
    return value.strftime("%Y-%m-%d")


def _span(age: timedelta) -> str:
    hours = ceil(age / _HOUR)
    return f"{hours} h" if hours <= 48 else f"{ceil(age / _DAY)} d"
