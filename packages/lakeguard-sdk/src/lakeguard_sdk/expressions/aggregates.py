"""Exact arithmetic and conditions over aggregates.

A value is None if an aggregate is None or a divisor is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel, complete
from lakeguard_sdk.expressions.conditions import Arithmetic, Comparison

AggregateResult = int | float | str | Decimal | None
"""The value of an aggregate as in evidence."""
Standing = tuple[int, Fraction | float]
"""Sort key of a number: equal values have equal keys, NaN sorts last."""
_WORDS: dict[str, Standing] = {
    "NaN": (1, 0.0),
    "Infinity": (0, inf),
    "-Infinity": (0, -inf),
}


class Total(FrozenModel):
    """One of the aggregates, by position."""

    node: Literal["total"] = "total"
    term: int


class Figure(FrozenModel):
    """A literal number."""

    node: Literal["figure"] = "figure"
    text: str


class Reckoned(FrozenModel):
    node: Literal["reckoned"] = "reckoned"
    op: Arithmetic
    left: TotalValue
    right: TotalValue


TotalValue = Annotated[Total | Figure | Reckoned, Field(discriminator="node")]
complete(Reckoned)


class NoNumber(Exception):
    """Arithmetic with NaN or infinity has no result."""


def divides(of: TotalValue) -> bool:
    """Whether the exact value may be a repeating decimal."""
    if not isinstance(of, Reckoned):
        return False
    return of.op is Arithmetic.DIVIDE or divides(of.left) or divides(of.right)


def standing(of: TotalValue, values: Sequence[AggregateResult]) -> Standing | None:
    """None if there is no value; raises NoNumber for arithmetic with a non-finite one."""
    match of:
        case Total(term=term):
            text = str(values[term])
            if text in _WORDS:
                return _WORDS[text]
            return None if values[term] is None else (0, Fraction(text))
        case Figure(text=text):
            return (0, Fraction(text))
        case Reckoned(op=op, left=left, right=right):
            sides = standing(left, values), standing(right, values)
            one, other = (None if side is None else _finite(side) for side in sides)
            found = None if one is None or other is None else _combined(op, one, other)
            return None if found is None else (0, found)


def _finite(found: Standing) -> Fraction:
    if isinstance(found[1], float):
        raise NoNumber
    return found[1]


def _combined(op: Arithmetic, one: Fraction, other: Fraction) -> Fraction | None:
    match op:
        case Arithmetic.ADD:
            return one + other
        case Arithmetic.SUBTRACT:
            return one - other
        case Arithmetic.MULTIPLY:
            return one * other
        case Arithmetic.DIVIDE:
            return one / other if other else None
        case Arithmetic.REMAINDER:
            return one - other * int(one / other) if other else None


# Three-valued conditions over the aggregates of a group.


class TotalCompare(FrozenModel):
    node: Literal["compare"] = "compare"
    op: Comparison
    left: TotalValue
    right: TotalValue


class TotalMissing(FrozenModel):
    node: Literal["missing"] = "missing"
    of: TotalValue


class TotalNot(FrozenModel):
    node: Literal["not"] = "not"
    item: TotalCondition


class TotalAnd(FrozenModel):
    node: Literal["and"] = "and"
    items: tuple[TotalCondition, ...]


class TotalOr(FrozenModel):
    node: Literal["or"] = "or"
    items: tuple[TotalCondition, ...]


TotalCondition = Annotated[
    TotalCompare | TotalMissing | TotalNot | TotalAnd | TotalOr, Field(discriminator="node")
]

complete(TotalCompare, TotalMissing, TotalNot, TotalAnd, TotalOr)


def holds(condition: TotalCondition, values: Sequence[AggregateResult]) -> bool | None:
    """Evaluates the condition for these aggregate values."""
    match condition:
        case TotalMissing(of=of):
            return _standing(of, values) is None
        case TotalNot(item=item):
            found = holds(item, values)
            return None if found is None else not found
        case TotalAnd(items=items):
            results = [holds(item, values) for item in items]
            return False if False in results else None if None in results else True
        case TotalOr(items=items):
            results = [holds(item, values) for item in items]
            return True if True in results else None if None in results else False
        case TotalCompare(op=op, left=left, right=right):
            one, other = _standing(left, values), _standing(right, values)
            return None if one is None or other is None else _compared(op, one, other)


def _compared(op: Comparison, one: Standing, other: Standing) -> bool:
    match op:
        case Comparison.EQ:
            return one == other
        case Comparison.NE:
            return one != other
        case Comparison.LT:
            return one < other
        case Comparison.LE:
            return one <= other
        case Comparison.GT:
            return one > other
        case Comparison.GE:
            return one >= other


def _standing(of: TotalValue, values: Sequence[AggregateResult]) -> Standing | None:
    try:
        return standing(of, values)
    except NoNumber:
        return None
