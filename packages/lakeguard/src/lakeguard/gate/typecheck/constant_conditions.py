"""Detects conditions that are constant."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from lakeguard.gate.grammar.syntax_tree import OPPOSITES
from lakeguard.gate.typecheck.scalars import as_scalar
from lakeguard.gate.typecheck.value_bounds import Interval, interval_of
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
    IsNull,
    Not,
    Or,
    Scalar,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import TIMES, is_numeric

_UPPER = (Comparison.GT, Comparison.GE)
_LOWER = (Comparison.LT, Comparison.LE)
_CLOSED = (Comparison.GE, Comparison.LE, Comparison.EQ)


def settled(condition: Condition) -> bool | None:
    """The condition's value for every row that has values; None if it varies."""
    match condition:
        case Compare(op=op, left=left, right=right):
            return compare_intervals(op, interval_of(left), interval_of(right))
        case InSet(of=of, values=values):
            reach = interval_of(of)
            none = all(
                compare_intervals(Comparison.EQ, reach, interval_of(v)) is False for v in values
            )
            both = type_of(of) == "boolean" and len({value.text for value in values}) > 1
            return False if none else True if both else None
        case IsNull(of=of):
            return False if _is_there(of) else None
        case Not(item=item):
            found = settled(item)
            return None if found is None else not found
        case And(items=items):
            return _all(items)
        case Or(items=items):
            opposite = _all([_negated(item) for item in items])
            return None if opposite is None else not opposite
    return None


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


def divides_by_zero(node: Calculation) -> bool:
    """Whether the divisor is the literal 0."""
    divides = node.op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER)
    return divides and isinstance(node.right, Value) and Decimal(node.right.text) == 0


def _all(items: Iterable[Condition]) -> bool | None:
    found = [settled(item) for item in items]
    if False in found or _contradict(items):
        return False
    return True if all(found) else None


def _negated(condition: Condition) -> Condition:
    """NaN is greater than every number, so the negation of a comparison is a comparison."""
    match condition:
        case Compare(op=op):
            return condition.model_copy(update={"op": OPPOSITES[op]})
        case Not(item=item):
            return item
    return Not(item=condition)


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


def _contradict(items: Iterable[Condition]) -> bool:
    """Whether the bounds of a column exclude every value."""
    bounds: dict[Scalar, list[tuple[Comparison, Any]]] = {}
    for item in _flat(items):
        place = _place(item.right) if isinstance(item, Compare) else None
        if isinstance(item, Compare) and place is not None:
            bounds.setdefault(item.left, []).append((item.op, place))
    return any(_nothing_between(found) for found in bounds.values())


def _flat(items: Iterable[Condition]) -> Iterable[Condition]:
    for item in items:
        if isinstance(item, And):
            yield from _flat(item.items)
        else:
            yield item


def _nothing_between(bounds: list[tuple[Comparison, Any]]) -> bool:
    lows = [item for item in bounds if item[0] in (*_UPPER, Comparison.EQ)]
    highs = [item for item in bounds if item[0] in (*_LOWER, Comparison.EQ)]
    return any(
        low > high or (low == high and not (one in _CLOSED and other in _CLOSED))
        for one, low in lows
        for other, high in highs
    )


def _place(value: Scalar) -> Any:
    """A literal as a sortable value; None if its type has no portable order."""
    if not isinstance(value, Value):
        return None
    if value.type == "string":
        return value.text.encode()
    ordered = is_numeric(value.type) or value.type in TIMES
    return as_scalar(value.text, value.type) if ordered else None
