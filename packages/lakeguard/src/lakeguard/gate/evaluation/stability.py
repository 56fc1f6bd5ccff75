"""How far the spread of values is from what it was: the population stability index. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from functools import reduce
from itertools import pairwise

from lakeguard.gate.typecheck.checks import Scalar
from lakeguard.gate.typecheck.scalars import NotAValue, as_scalar
from lakeguard_sdk.expressions.measures import MeasureValue

_EXACT = Context(prec=40)
"""Every step is reckoned in it: that of the thread may be anything."""
_LEAST = Decimal("0.0001")
"""The share of a bin that has no rows: the index would be infinite otherwise."""
_BINS = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A value, the rows that lie below it, and those up to it."""

    at: Decimal
    below: int
    up_to: int


@dataclass(frozen=True)
class Spread:
    """Of numbers and times the places, of others the most frequent values by their digests."""

    rows: int
    places: tuple[Place, ...] = ()
    values: tuple[tuple[str, int], ...] = ()


def read_spread(value: MeasureValue, data_type: str) -> Spread:
    """What evidence holds of a distribution; NotAValue where it is none."""
    try:
        told = json.loads(value) if isinstance(value, str) else {}
        places = tuple(
            Place(place_of(at, data_type), *rows) for at, *rows in told.get("places", ())
        )
        values = tuple((digest, int(rows)) for digest, rows in told.get("values", ()))
        return Spread(int(told["rows"]), places, values)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise NotAValue(f"{value!r:.60} is no distribution") from None


def stability(before: Spread, now: Spread) -> Decimal | None:
    """0 where both are spread alike; about 0.1 is a small change and 0.25 a large one. None where
    one of them has no rows."""
    if not before.rows or not now.rows:
        return None
    bins = _bins_of_places if before.places and now.places else _bins_of_values
    parts = (_part(*shares) for shares in bins(before, now))
    return reduce(_EXACT.add, parts, Decimal(0))


def _part(before: Decimal, now: Decimal) -> Decimal:
    one, other = max(before, _LEAST), max(now, _LEAST)
    apart = _EXACT.subtract(other, one)
    return _EXACT.multiply(apart, _EXACT.ln(_EXACT.divide(other, one)))


def _bins_of_places(before: Spread, now: Spread) -> Iterable[tuple[Decimal, Decimal]]:
    """Bins that had about as many rows each; the outermost have no end. A least value that fills
    its bin has it for itself, so that what is below is seen to be new."""
    edges = _edges(before)
    least = edges[0] if before.places[0].at == edges[0] else None
    return zip(_shares(before, edges, least), _shares(now, edges, least), strict=True)


def _edges(spread: Spread) -> list[Decimal]:
    """Between the bins; where a value has more rows than a bin, there are fewer."""
    wanted = (spread.rows * step for step in range(1, _BINS))
    places = spread.places
    found = (next(p.at for p in places if p.up_to * _BINS >= rows) for rows in wanted)
    return list(dict.fromkeys(found))


def _shares(spread: Spread, edges: Sequence[Decimal], least: Decimal | None) -> list[Decimal]:
    below = [] if least is None else [_rows_below(spread, least)]
    up_to = [_rows_up_to(spread, edge) for edge in edges]
    ends = [Decimal(0), *below, *up_to, Decimal(spread.rows)]
    rows = [_EXACT.subtract(high, low) for low, high in pairwise(ends)]
    return [_EXACT.divide(some, Decimal(spread.rows)) for some in rows]


def _rows_up_to(spread: Spread, edge: Decimal) -> Decimal:
    """Between two places the rows are taken to lie evenly."""
    low: Place | None = None
    for place in spread.places:
        if place.at > edge:
            return Decimal(0) if low is None else _between(low, place, edge)
        low = place
    return Decimal(spread.rows)


def _rows_below(spread: Spread, edge: Decimal) -> Decimal:
    exact = next((place.below for place in spread.places if place.at == edge), None)
    return _rows_up_to(spread, edge) if exact is None else Decimal(exact)


def _between(low: Place, high: Place, edge: Decimal) -> Decimal:
    if not (low.at.is_finite() and high.at.is_finite()):
        return Decimal(low.up_to)
    part = _EXACT.divide(_EXACT.subtract(edge, low.at), _EXACT.subtract(high.at, low.at))
    return _EXACT.fma(part, Decimal(high.below - low.up_to), Decimal(low.up_to))


def _bins_of_values(before: Spread, now: Spread) -> Iterable[tuple[Decimal, Decimal]]:
    """Each value of which both are known, and all others together."""
    rest = [before.rows, now.rows]
    for digest in dict.fromkeys(digest for digest, _ in (*before.values, *now.values)):
        one, other = _rows_of(digest, before, now), _rows_of(digest, now, before)
        if one is not None and other is not None:
            rest = [rest[0] - one, rest[1] - other]
            yield _share(one, before), _share(other, now)
    yield _share(max(rest[0], 0), before), _share(max(rest[1], 0), now)


def _rows_of(digest: str, spread: Spread, other: Spread) -> int | None:
    """Of a value that is not listed: none, where all are; else no more than the last that is. That
    is told only of one that is more frequent on the other side; otherwise it is not known."""
    listed = dict(spread.values)
    if digest in listed or _is_whole(spread):
        return listed.get(digest, 0)
    last = spread.values[-1][1]
    more = dict(other.values)[digest] * spread.rows > last * other.rows
    return min(last, spread.rows - sum(listed.values())) if more else None


def _is_whole(spread: Spread) -> bool:
    return sum(rows for _, rows in spread.values) == spread.rows


def _share(rows: int, spread: Spread) -> Decimal:
    return _EXACT.divide(Decimal(rows), Decimal(spread.rows))


def place_of(value: MeasureValue, data_type: str) -> Decimal:
    """A value as evidence spells it on the line of numbers: dates as days, times as microseconds.
    NotAValue where it has no place."""
    scalar: Scalar | None = as_scalar(value, data_type)
    match scalar:
        case Decimal() if not scalar.is_nan():
            return scalar
        case datetime():
            apart = scalar - _EPOCH
            return Decimal((apart.days * 86_400 + apart.seconds) * 1_000_000 + apart.microseconds)
        case date():
            return Decimal(scalar.toordinal())
    raise NotAValue(f"{value!r:.60} has no place")
