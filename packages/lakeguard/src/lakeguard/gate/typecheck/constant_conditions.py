"""Detects conditions that are constant: no row makes them TRUE, or none makes them FALSE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from math import ceil, floor
from typing import Any

from lakeguard.gate.grammar.pattern import matches_everything, matches_nothing
from lakeguard.gate.grammar.syntax_tree import OPPOSITES
from lakeguard.gate.typecheck.linear_forms import Interval
from lakeguard.gate.typecheck.scalars import as_scalar
from lakeguard.gate.typecheck.simple_scalars import plain, same_value, strict_parts
from lakeguard.gate.typecheck.value_bounds import (
    NOTHING,
    difference_interval,
    interval_of,
)
from lakeguard_sdk.expressions.conditions import (
    And,
    Arithmetic,
    Calculation,
    Call,
    Choice,
    Compare,
    Comparison,
    Condition,
    Function,
    InSet,
    IsNan,
    IsNull,
    Matches,
    Not,
    Or,
    Scalar,
    Test,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS, INTEGERS, TIMES, is_numeric

_MOST_CASES = 256
_DIFFERS = (Comparison.NE, Comparison.LT, Comparison.GT)
_SIDES = {
    Comparison.EQ: {0},
    Comparison.NE: {-1, 1},
    Comparison.LT: {-1},
    Comparison.LE: {-1, 0},
    Comparison.GT: {1},
    Comparison.GE: {0, 1},
}
"""Whether the left side may be below (-1), equal to (0) or above (1) the right one."""

Case = tuple[Condition, ...]
"""Conditions without And and Or that must all be TRUE."""


def settled(condition: Condition) -> bool | None:
    """The condition's value for every row that has values; None if it varies."""
    if never_true(condition):
        return False
    return True if never_true(_negated(condition)) else None


def never_true(condition: Condition) -> bool:
    """Whether no row makes the condition TRUE; False if that cannot be proved."""
    return all(_excluded(case) for case in _cases(condition))


def _cases(condition: Condition) -> list[Case]:
    """At least one is TRUE where the condition is; parts with too many cases are left out."""
    match condition:
        case Not(item=And() | Or() | Not() | Compare() as inner):
            return _cases(_negated(inner))
        case Or(items=items):
            options = [case for item in items for case in _cases(item)]
            return options if len(options) <= _MOST_CASES else [()]
        case And(items=items):
            found: list[Case] = [()]
            for item in items:
                parts = _cases(item)
                if len(found) * len(parts) <= _MOST_CASES:
                    found = [(*case, *part) for case in found for part in parts]
            return found
    return [(condition,)]


def _negated(condition: Condition) -> Condition:
    """NaN is greater than every number, so the negation of a comparison is a comparison."""
    match condition:
        case Compare(op=op):
            return condition.model_copy(update={"op": OPPOSITES[op]})
        case And(items=items):
            return Or(items=tuple(map(_negated, items)))
        case Or(items=items):
            return And(items=tuple(map(_negated, items)))
        case Not(item=item):
            return item
    return Not(item=condition)


def _excluded(case: Case) -> bool:
    """Whether the conditions are never TRUE together."""
    return (
        any(map(_is_false, case))
        or _contradict(case)
        or _null_and_present(case)
        or any(not sides for sides in _column_pairs(case).values())
        or any(values.is_empty for values in _values(case).values())
    )


def _is_false(condition: Condition) -> bool:
    """Whether the condition alone is never TRUE."""
    match condition:
        case Compare(op=op, left=left, right=right):
            if same_value(left, right):
                return op in _DIFFERS
            difference = difference_interval(left, right)
            return False in (
                compare_intervals(op, interval_of(left), interval_of(right)),
                compare_intervals(op, difference, NOTHING),
            )
        case InSet(of=of, values=values):
            reach = interval_of(of)
            return all(
                compare_intervals(Comparison.EQ, reach, interval_of(v)) is False for v in values
            )
        case IsNull(of=of):
            return _is_there(of)
        case IsNan(of=of):
            return _never_nan(of)
        case Matches(pattern=pattern):
            return matches_nothing(pattern)
        case Not(item=Matches(pattern=pattern)):
            return matches_everything(pattern)
    return False


def _is_there(node: Scalar) -> bool:
    """Whether the value is never NULL."""
    match node:
        case Value():
            return True
        case Choice(then=then, otherwise=otherwise):
            return _is_there(then) and _is_there(otherwise)
        case Call(function=Function.COALESCE, arguments=arguments):
            return any(map(_is_there, arguments))
    return False


def _never_nan(node: Scalar) -> bool:
    """Whether the value is computed from exact numbers, which are never NaN."""
    match node:
        case Call(function=Function.DOUBLE, arguments=(of,)):
            return type_of(of) not in FLOATS
        case Calculation(op=Arithmetic.DIVIDE, left=left, right=right):
            return not {type_of(left), type_of(right)} & set(FLOATS)
    return False


def divides_by_zero(node: Calculation) -> bool:
    """Whether the divisor is the literal 0."""
    divides = node.op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER)
    return divides and isinstance(node.right, Value) and Decimal(node.right.text) == 0


def _contradict(case: Case) -> bool:
    """Whether a condition and its negation are both required."""
    refused = {item.item for item in case if isinstance(item, Not)}
    return not refused.isdisjoint(case)


def _null_and_present(case: Case) -> bool:
    """Whether a value must be NULL beside a condition that needs it."""
    missing = {item.of for item in case if isinstance(item, IsNull)}
    if not missing:
        return False
    return any(missing & set(strict_parts(of)) for item in case for of in _needed(item))


def _needed(condition: Condition) -> Iterator[Scalar]:
    """Scalars that must not be NULL if the condition is TRUE."""
    match condition:
        case Compare(left=left, right=right):
            yield from (left, right)
        case InSet(of=of) | IsNan(of=of) | Matches(of=of) | Test(of=of):
            yield of
        case Not(item=IsNull(of=of)):
            yield of
        case Not(item=InSet() | IsNan() | Matches() | Test() as item):
            yield from _needed(item)


def _column_pairs(case: Case) -> dict[tuple[Scalar, Scalar], set[int]]:
    """On which side of each other two values of the row may still be."""
    found: dict[tuple[Scalar, Scalar], set[int]] = {}
    for item in case:
        if not isinstance(item, Compare) or isinstance(item.right, Value):
            continue
        left, right = plain(item.left), plain(item.right)
        if (right, left) in found:
            found[right, left] &= {-side for side in _SIDES[item.op]}
        else:
            found.setdefault((left, right), {-1, 0, 1}).intersection_update(_SIDES[item.op])
    return found


# The values that are left for one scalar.


@dataclass
class _Values:
    """Values of one scalar that every condition of a case allows."""

    scalar: Scalar
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

    def _passes(self, value: Any) -> bool:
        within = all(_side(value, end) in _SIDES[op] for op, end in self.bounds)
        return within and value not in self.refused

    def _nothing_between(self) -> bool:
        low, low_open = _strictest(self.bounds, Comparison.GT, Comparison.GE)
        high, high_open = _strictest(self.bounds, Comparison.LT, Comparison.LE)
        kind = type_of(self.scalar)
        if kind in INTEGERS or kind == "date":
            return self._no_step_between(low, low_open, high, high_open)
        if low is None or high is None:
            return False
        return bool(low > high or (low == high and (low_open or high_open or low in self.refused)))

    def _no_step_between(self, low: Any, low_open: bool, high: Any, high_open: bool) -> bool:
        """Of whole numbers and dates, which have neighbours."""
        first, last = _first(low, low_open), _last(high, high_open)
        if type_of(self.scalar) in INTEGERS:
            reach = interval_of(self.scalar)
            first = max((end for end in (first, reach.low) if end is not None), default=None)
            last = min((end for end in (last, reach.high) if end is not None), default=None)
        if first is None or last is None:
            return False
        if first > last:
            return True
        between = {value for value in self.refused if first <= value <= last}
        steps = (last - first).days if isinstance(first, date) else int(last - first)
        return len(between) == steps + 1


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


def _first(low: Any, is_open: bool) -> Any:
    if low is None or isinstance(low, date):
        return low + timedelta(days=1) if is_open and low is not None and low < date.max else low
    return Decimal(floor(low) + 1 if is_open else ceil(low))


def _last(high: Any, is_open: bool) -> Any:
    if high is None or isinstance(high, date):
        return (
            high - timedelta(days=1) if is_open and high is not None and high > date.min else high
        )
    return Decimal(ceil(high) - 1 if is_open else floor(high))


def _values(case: Case) -> dict[Scalar, _Values]:
    found: dict[Scalar, _Values] = {}
    for item in case:
        of = _compared_with_literals(item)
        if of is not None:
            values = found.setdefault(of, _Values(of))
            if type_of(of) == "boolean" and not values.allowed:
                values.allowed.append({"true", "false"})
            _narrow(values, item)
    return found


def _compared_with_literals(item: Condition) -> Scalar | None:
    match item:
        case Compare(left=left, right=Value() as right) if _place(right) is not None:
            return plain(left)
        case InSet(of=of, values=listed) | Not(item=InSet(of=of, values=listed)):
            return plain(of) if None not in map(_place, listed) else None
        case IsNan(of=of):
            return plain(of)
    return None


def _narrow(values: _Values, item: Condition) -> None:
    match item:
        case Compare(op=Comparison.EQ, right=right):
            values.allowed.append({_place(right)})
        case Compare(op=Comparison.NE, right=right):
            values.refused.add(_place(right))
        case Compare(op=op, right=right):
            values.bounds.append((op, _place(right)))
        case InSet(values=listed):
            values.allowed.append(set(map(_place, listed)))
        case Not(item=InSet(values=listed)):
            values.refused.update(map(_place, listed))
        case IsNan():
            values.is_nan = True


def _place(value: Scalar) -> Any:
    """A literal as a sortable value; None if its type has no portable order."""
    if not isinstance(value, Value):
        return None
    if value.type == "string":
        return value.text.encode()
    if value.type == "boolean":
        return value.text
    ordered = is_numeric(value.type) or value.type in TIMES
    return as_scalar(value.text, value.type) if ordered else None


def _side(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


# Comparisons of intervals.


def compare_intervals(op: Comparison, one: Interval, other: Interval) -> bool | None:
    """The result of a comparison of two intervals; None if it varies."""
    match op:
        case Comparison.GE:
            return _below(other, one, strict=False)
        case Comparison.LE:
            return _below(one, other, strict=False)
        case Comparison.LT:
            return _below(one, other, strict=True)
        case Comparison.GT:
            return _below(other, one, strict=True)
    if True in (_below(one, other, strict=True), _below(other, one, strict=True)):
        return op is Comparison.NE
    same = None not in one and one.low == one.high == other.low == other.high
    return (op is Comparison.EQ) if same else None


def _below(one: Interval, other: Interval, *, strict: bool) -> bool | None:
    """Whether every number of one is below (or not above) every number of the other."""
    if _before(one.high, other.low, equal=not strict):
        return True
    return False if _before(other.high, one.low, equal=strict) else None


def _before(high: Decimal | None, low: Decimal | None, *, equal: bool) -> bool:
    if high is None or low is None:
        return False
    return high < low or (equal and high == low)
