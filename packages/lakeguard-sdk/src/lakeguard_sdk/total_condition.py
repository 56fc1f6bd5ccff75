"""Conditions over the aggregates of a group: TRUE, FALSE or NULL, reckoned exactly.

NULL is an aggregate without a value, or what is divided by 0. NaN equals NaN and is above every
number, as in the conditions of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.expression import Arithmetic, Comparison
from lakeguard_sdk.noun import Noun

Held = int | float | str | None
"""The value of an aggregate as evidence would hold it."""
_Place = tuple[int, Fraction | float]
_NAN: _Place = (1, 0.0)
_WORDS: dict[str, _Place] = {"NaN": _NAN, "Infinity": (0, inf), "-Infinity": (0, -inf)}


class Total(Noun):
    """One of the aggregates, by its place."""

    node: Literal["total"] = "total"
    term: int


class Figure(Noun):
    """A number as it is written."""

    node: Literal["figure"] = "figure"
    text: str


class Reckoned(Noun):
    node: Literal["reckoned"] = "reckoned"
    op: Arithmetic
    left: TotalValue
    right: TotalValue


TotalValue = Annotated[Total | Figure | Reckoned, Field(discriminator="node")]


class TotalCompare(Noun):
    node: Literal["compare"] = "compare"
    op: Comparison
    left: TotalValue
    right: TotalValue


class TotalMissing(Noun):
    node: Literal["missing"] = "missing"
    of: TotalValue


class TotalNot(Noun):
    node: Literal["not"] = "not"
    item: TotalCondition


class TotalAnd(Noun):
    node: Literal["and"] = "and"
    items: tuple[TotalCondition, ...]


class TotalOr(Noun):
    node: Literal["or"] = "or"
    items: tuple[TotalCondition, ...]


TotalCondition = Annotated[
    TotalCompare | TotalMissing | TotalNot | TotalAnd | TotalOr, Field(discriminator="node")
]

for _node in (Reckoned, TotalCompare, TotalMissing, TotalNot, TotalAnd, TotalOr):
    _node.model_rebuild()


def holds(condition: TotalCondition, values: Sequence[Held]) -> bool | None:
    """What the condition is where the aggregates have these values."""
    match condition:
        case TotalMissing(of=of):
            return _place(of, values) is None
        case TotalNot(item=item):
            found = holds(item, values)
            return None if found is None else not found
        case TotalAnd(items=items):
            told = [holds(item, values) for item in items]
            return False if False in told else None if None in told else True
        case TotalOr(items=items):
            told = [holds(item, values) for item in items]
            return True if True in told else None if None in told else False
        case TotalCompare(op=op, left=left, right=right):
            one, other = _place(left, values), _place(right, values)
            return None if one is None or other is None else _compared(op, one, other)


def _compared(op: Comparison, one: _Place, other: _Place) -> bool:
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


def _place(of: TotalValue, values: Sequence[Held]) -> _Place | None:
    """Where a value stands in the order of numbers, NaN behind all of them."""
    match of:
        case Total(term=term):
            value = values[term]
            if isinstance(value, str) and value in _WORDS:
                return _WORDS[value]
            return None if value is None else (0, Fraction(str(value)))
        case Figure(text=text):
            return (0, Fraction(text))
        case Reckoned(op=op, left=left, right=right):
            one, other = _place(left, values), _place(right, values)
            return None if one is None or other is None else _reckoned(op, one, other)


def _reckoned(op: Arithmetic, one: _Place, other: _Place) -> _Place | None:
    """NaN where a part is NaN or infinite."""
    left, right = one[1], other[1]
    if _NAN in (one, other) or isinstance(left, float) or isinstance(right, float):
        return _NAN
    match op:
        case Arithmetic.ADD:
            return (0, left + right)
        case Arithmetic.SUBTRACT:
            return (0, left - right)
        case Arithmetic.MULTIPLY:
            return (0, left * right)
    if not right:
        return None
    if op is Arithmetic.DIVIDE:
        return (0, left / right)
    return (0, left - right * int(left / right))
