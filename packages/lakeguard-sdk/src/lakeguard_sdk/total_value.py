"""A value that is reckoned out of aggregates, exactly.

It has none where an aggregate has none, or where something is divided by 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.expression import Arithmetic
from lakeguard_sdk.noun import Noun

Held = int | float | str | Decimal | None
"""The value of an aggregate as evidence would hold it."""
Standing = tuple[int, Fraction | float]
"""Where a value stands in the order of numbers: equal values stand alike, NaN behind all."""
_WORDS: dict[str, Standing] = {
    "NaN": (1, 0.0),
    "Infinity": (0, inf),
    "-Infinity": (0, -inf),
}


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
Reckoned.model_rebuild()


class NoNumber(Exception):
    """Something is reckoned with NaN or infinity, and the whole is no number."""


def divides(of: TotalValue) -> bool:
    """Whether the exact value may have no end of digits."""
    if not isinstance(of, Reckoned):
        return False
    return of.op is Arithmetic.DIVIDE or divides(of.left) or divides(of.right)


def standing(of: TotalValue, values: Sequence[Held]) -> Standing | None:
    """None where there is no value; NoNumber where one that is not finite is reckoned with."""
    match of:
        case Total(term=term):
            told = str(values[term])
            if told in _WORDS:
                return _WORDS[told]
            return None if values[term] is None else (0, Fraction(told))
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
