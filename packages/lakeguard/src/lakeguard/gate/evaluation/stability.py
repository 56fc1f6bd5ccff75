"""Population stability index (PSI): how much a distribution has changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from functools import reduce
from itertools import pairwise

from lakeguard.gate.typecheck.checks import LEAST_SHARE, Scalar
from lakeguard.gate.typecheck.scalars import NotAValue, as_scalar
from lakeguard_sdk.expressions.measures import MeasureValue

_EXACT = Context(prec=40)
"""Used for every step: the thread's own context may differ."""
_BINS = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A value, the number of rows below it, and the number of rows up to and including it."""

    at: Decimal
    below: int
    up_to: int


@dataclass(frozen=True)
class Spread:
    """Quantile points of numbers and times, or the digests of the most frequent other values."""

    rows: int
    places: tuple[Place, ...] = ()
    values: tuple[tuple[str, int], ...] = ()


def read_spread(value: MeasureValue, data_type: str) -> Spread:
    """Parse a distribution from evidence; raises NotAValue if it is malformed."""
    try:
        parsed = json.loads(value) if isinstance(value, str) else {}
        places = tuple(
            Place(place_of(at, data_type), *rows) for at, *rows in parsed.get("places", ())
        )
        values = tuple((digest, int(rows)) for digest, rows in parsed.get("values", ()))
        return Spread(int(parsed["rows"]), places, values)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotAValue(f"{value!r:.60} is not a distribution") from None


def stability(before: Spread, now: Spread) -> Decimal | None:
    """0 for equal distributions; about 0.1 is a small change and 0.25 a large one. None where
    either has no rows."""
    if not before.rows or not now.rows:
        return None
    bins = _bins_of_places if before.places and now.places else _bins_of_values
    parts = (_part(*shares) for shares in bins(before, now))
    return reduce(_EXACT.add, parts, Decimal(0))


def _part(before: Decimal, now: Decimal) -> Decimal:
    one, other = max(before, LEAST_SHARE), max(now, LEAST_SHARE)
    apart = _EXACT.subtract(other, one)
    return _EXACT.multiply(apart, _EXACT.ln(_EXACT.divide(other, one)))


def _bins_of_places(before: Spread, now: Spread) -> Iterable[tuple[Decimal, Decimal]]:
    """Bins with about equally many rows before; the outer ones are open.

    A minimum that fills its bin gets a bin of its own, so that new lower values show up.
    """
    edges = _edges(before)
    least = edges[0] if before.places[0].at == edges[0] else None
    return zip(_shares(before, edges, least), _shares(now, edges, least), strict=True)


def _edges(spread: Spread) -> list[Decimal]:
    """Upper edges of the bins; fewer where one value has more rows than a bin."""
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
    """Interpolates linearly between two points."""
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
    """One bin per value known on both sides, and one for the rest."""
    rest = [before.rows, now.rows]
    for digest in dict.fromkeys(digest for digest, _ in (*before.values, *now.values)):
        one, other = _rows_of(digest, before, now), _rows_of(digest, now, before)
        if one is not None and other is not None:
            rest = [rest[0] - one, rest[1] - other]
            yield _share(one, before), _share(other, now)
    yield _share(max(rest[0], 0), before), _share(max(rest[1], 0), now)


def _rows_of(digest: str, spread: Spread, other: Spread) -> int | None:
    """Rows of a value, or an upper estimate if it is not listed; None if unknown.

    An unlisted value has no rows if the list is complete, else at most as many as the last listed
    one. The estimate is used only if the value is more frequent on the other side.
    """
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
    """A value from evidence as a number: dates in days, times in microseconds. NotAValue where it
    has none."""
    scalar: Scalar | None = as_scalar(value, data_type)
    match scalar:
        case Decimal() if not scalar.is_nan():
            return scalar
        case datetime():
            apart = scalar - _EPOCH
            return Decimal((apart.days * 86_400 + apart.seconds) * 1_000_000 + apart.microseconds)
        case date():
            return Decimal(scalar.toordinal())
    raise NotAValue(f"{value!r:.60} cannot be ordered")
