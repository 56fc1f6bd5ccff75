"""The values that conditions leave for a scalar or a sum of scalars: whether there are any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Context, Decimal, Inexact
from math import ceil, floor
from typing import Any

from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.typecheck.scalars import as_scalar
from lakeguard.gate.typecheck.simple_scalars import plain
from lakeguard.gate.typecheck.value_bounds import difference, interval_of, step_of
from lakeguard_sdk.expressions.conditions import (
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    Not,
    Scalar,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import TIMES, is_numeric

SIDES = {
    Comparison.EQ: {0},
    Comparison.NE: {-1, 1},
    Comparison.LT: {-1},
    Comparison.LE: {-1, 0},
    Comparison.GT: {1},
    Comparison.GE: {0, 1},
}
"""Whether the left side may be below (-1), equal to (0) or above (1) the right one."""
_MIRRORED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
}
_PRECISION = EXACT.prec


Subject = Scalar | frozenset[tuple[Scalar, Decimal]]
"""What is limited: a scalar, or a sum of exact ones with factors."""


@dataclass
class RemainingValues:
    """Values of the subject that every condition of a case allows."""

    subject: Subject
    is_nan: bool = False
    allowed: list[set[Any]] = field(default_factory=list)
    refused: set[Any] = field(default_factory=set)
    bounds: list[tuple[Comparison, Any]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        upper = (Comparison.LT, Comparison.LE)
        if self.is_nan:  # above every literal
            return bool(self.allowed) or any(op in upper for op, _ in self.bounds)
        if self.allowed:
            return not any(map(self._passes, set.intersection(*self.allowed)))
        return self._nothing_between()

    @property
    def _kind(self) -> str:
        return "" if isinstance(self.subject, frozenset) else type_of(self.subject)

    @property
    def _step(self) -> Decimal | None:
        return None if isinstance(self.subject, frozenset) else step_of(self.subject)

    def _passes(self, value: Any) -> bool:
        step = self._step
        if step is not None and EXACT.remainder(value, step):
            return False
        return value not in self.refused and all(
            _side(value, end) in SIDES[op] for op, end in (*self.bounds, *self._reach())
        )

    def _reach(self) -> Iterator[tuple[Comparison, Any]]:
        """The ends of what a scalar may be at all."""
        if isinstance(self.subject, frozenset):
            return
        if self._kind == "string":
            yield Comparison.GE, b""
        if is_numeric(self._kind):
            low, high = interval_of(self.subject)
            yield from () if low is None else [(Comparison.GE, low)]
            yield from () if high is None else [(Comparison.LE, high)]

    def _nothing_between(self) -> bool:
        bounds = [*self.bounds, *self._reach()]
        low, low_open = _strictest(bounds, Comparison.GT, Comparison.GE)
        high, high_open = _strictest(bounds, Comparison.LT, Comparison.LE)
        if low is None or high is None:
            return False
        step = self._step
        if step is not None:
            return self._no_step_between(*_steps(low, low_open, high, high_open, step), step)
        if self._kind == "date":
            return self._no_day_between(_first_day(low, low_open), _last_day(high, high_open))
        return bool(low > high or (low == high and (low_open or high_open or low in self.refused)))

    def _no_step_between(self, first: int, last: int, step: Decimal) -> bool:
        """Whether every multiple of the step from the first to the last one is refused."""
        places = (EXACT.divide(value, step) for value in self.refused)
        between = {at for at in places if at == at.to_integral_value() and first <= at <= last}
        return len(between) >= last - first + 1

    def _no_day_between(self, first: date, last: date) -> bool:
        between = {day for day in self.refused if first <= day <= last}
        return len(between) >= (last - first).days + 1


def _strictest(
    bounds: Iterable[tuple[Comparison, Any]], open_op: Comparison, closed_op: Comparison
) -> tuple[Any, bool]:
    """The narrowest bound of a side, and whether it is itself excluded."""
    found = [(end, op is open_op) for op, end in bounds if op in (open_op, closed_op)]
    if not found:
        return None, False
    pick = max if open_op is Comparison.GT else min
    end = pick(end for end, _ in found)
    return end, (end, True) in found


def _steps(
    low: Decimal, low_open: bool, high: Decimal, high_open: bool, step: Decimal
) -> tuple[int, int]:
    """The first and the last multiple of the step."""
    start, end = EXACT.divide(low, step), EXACT.divide(high, step)
    return (
        floor(start) + 1 if low_open else ceil(start),
        ceil(end) - 1 if high_open else floor(end),
    )


def _first_day(low: date, is_open: bool) -> date:
    return low + timedelta(days=1) if is_open and low < date.max else low


def _last_day(high: date, is_open: bool) -> date:
    return high - timedelta(days=1) if is_open and high > date.min else high


def remaining_values(case: Iterable[Condition]) -> list[RemainingValues]:
    """What conditions that must all be TRUE leave of everything that they compare with literals."""
    found: dict[Subject, RemainingValues] = {}
    for item in case:
        for subject, limit in _limits(item):
            if subject not in found:
                found[subject] = RemainingValues(subject, allowed=_all_values(subject))
            _narrow(found[subject], limit)
    return list(found.values())


def _all_values(subject: Subject) -> list[set[Any]]:
    """The only values of a literal or a boolean; nothing for others."""
    if isinstance(subject, Value) and (place := _place(subject)) is not None:
        return [{place}]
    is_flag = not isinstance(subject, frozenset) and type_of(subject) == "boolean"
    return [{"true", "false"}] if is_flag else []


Limit = tuple[Comparison, set[Any]] | None
"""A comparison with one of some values; None is a test for NaN."""


def _limits(item: Condition) -> Iterator[tuple[Subject, Limit]]:
    """What the condition limits, and how."""
    match item:
        case Compare(op=op, left=left, right=right):
            if (found := _solved(op, left, right)) is not None:
                yield found
            elif isinstance(right, Value) and (end := _place(right)) is not None:
                yield plain(left), (op, {end})
        case InSet(of=of, values=listed) | Not(item=InSet(of=of, values=listed)):
            op = Comparison.EQ if isinstance(item, InSet) else Comparison.NE
            yield from _listed(op, of, listed)
        case IsNan(of=of):
            yield plain(of), None


def _listed(
    op: Comparison, of: Scalar, listed: tuple[Value, ...]
) -> Iterator[tuple[Subject, Limit]]:
    solved = [found for value in listed if (found := _solved(op, of, value)) is not None]
    subjects = {subject for subject, _ in solved}
    places = {_place(value) for value in listed}
    if len(subjects) == 1 and len(solved) == len(listed):
        yield subjects.pop(), (op, {end for _, (_, ends) in solved for end in ends})
    elif None not in places:
        yield plain(of), (op, places)


def _solved(
    op: Comparison, left: Scalar, right: Scalar
) -> tuple[Subject, tuple[Comparison, set[Any]]] | None:
    """``2 * n + 1 > 7`` as ``n > 3``, and ``n > m`` as ``n - m > 0``; None unless exact scalars are
    compared."""
    less = difference(left, right)
    if less is None or not less.factors:
        return None
    rounding = Context(prec=_PRECISION)
    by = less.factors[min(less.factors, key=repr)]
    factors = {part: rounding.divide(factor, by) for part, factor in less.factors.items()}
    end = rounding.divide(less.constant.copy_negate(), by)
    if rounding.flags[Inexact]:
        return None
    subject = next(iter(factors)) if len(factors) == 1 else frozenset(factors.items())
    return subject, (op if by > 0 else _MIRRORED.get(op, op), {end})


def _narrow(values: RemainingValues, limit: Limit) -> None:
    match limit:
        case None:
            values.is_nan = True
        case Comparison.EQ, places:
            values.allowed.append(places)
        case Comparison.NE, places:
            values.refused.update(places)
        case op, places:
            values.bounds.extend((op, end) for end in places)


def _place(value: Value) -> Any:
    """A literal as a sortable value; None if its type has no portable order."""
    if value.type == "string":
        return value.text.encode()
    if value.type == "boolean":
        return value.text
    ordered = is_numeric(value.type) or value.type in TIMES
    return as_scalar(value.text, value.type) if ordered else None


def _side(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)
