"""A value that is reckoned out of the values of measures, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from lakeguard_sdk.expression import Arithmetic


@dataclass(frozen=True)
class Term:
    """The value of one of the measures, by its place."""

    index: int


@dataclass(frozen=True)
class Constant:
    value: Decimal


@dataclass(frozen=True)
class Combined:
    op: Arithmetic
    left: Formula
    right: Formula


Formula = Term | Constant | Combined


class NoNumber(Exception):
    """A term is NaN or infinite, and so the whole is no number."""


def divides(formula: Formula) -> bool:
    """Whether the exact value may have no end of digits."""
    if not isinstance(formula, Combined):
        return False
    return formula.op is Arithmetic.DIVIDE or divides(formula.left) or divides(formula.right)


def reckoned(formula: Formula, values: Sequence[Decimal | None]) -> Fraction | None:
    """None where a term has no value or a divisor is 0; NoNumber where a term is no number."""
    match formula:
        case Constant(value=value):
            return Fraction(value)
        case Term(index=index):
            found = values[index]
            if found is not None and not found.is_finite():
                raise NoNumber
            return None if found is None else Fraction(found)
        case Combined(op=op, left=left, right=right):
            one, other = reckoned(left, values), reckoned(right, values)
            return None if one is None or other is None else _combined(op, one, other)


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
