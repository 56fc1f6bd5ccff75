"""Sums of exact values with factors, so that equal parts cancel: ``n + 1 - n`` is 1."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import Generic, TypeVar

from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.typecheck.intervals import Interval
from lakeguard_sdk.expressions.conditions import Arithmetic

_ZERO = Decimal(0)


Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True)
class LinearForm(Generic[Part]):
    """``constant`` and the sum of the parts, each with its factor."""

    factors: Mapping[Part, Decimal]
    constant: Decimal = _ZERO

    def plus(self, other: LinearForm[Part], times: Decimal = Decimal(1)) -> LinearForm[Part]:
        factors = dict(self.factors)
        for part, factor in other.factors.items():
            factors[part] = EXACT.add(factors.get(part, _ZERO), EXACT.multiply(factor, times))
        left = {part: factor for part, factor in factors.items() if factor}
        return LinearForm(left, EXACT.add(self.constant, EXACT.multiply(other.constant, times)))

    def interval(
        self, reach: Callable[[Part], Interval], never_above: Callable[[Part, Part], bool]
    ) -> Interval:
        """Never too narrow. ``never_above`` says that one part is at most as large as another."""
        empty: LinearForm[Part] = LinearForm({})
        low = _most(empty.plus(self, Decimal(-1)), reach, never_above)
        high = _most(self, reach, never_above)
        return Interval(None if low is None else low.copy_negate(), high)

    def is_never_zero(self, step: Callable[[Part], Decimal | None]) -> bool:
        """Whether the constant is no sum of multiples of the steps: ``2 * n + 1`` is never 0.
        ``step`` returns the number that every value of a part is a multiple of, or None."""
        steps = {part: step(part) for part in self.factors}
        shared = Fraction(0)
        for part, factor in self.factors.items():
            if (size := steps[part]) is None:
                return False
            one = Fraction(factor) * Fraction(size)
            shared = Fraction(
                gcd(shared.numerator * one.denominator, one.numerator * shared.denominator),
                shared.denominator * one.denominator,
            )
        return shared != 0 and (Fraction(self.constant) / shared).denominator != 1


def combined(
    op: Arithmetic, one: LinearForm[Part] | None, other: LinearForm[Part] | None
) -> LinearForm[Part] | None:
    """The form of an operation; None if it is no sum of parts with constant factors."""
    if one is None or other is None:
        return None
    match op:
        case Arithmetic.ADD:
            return one.plus(other)
        case Arithmetic.SUBTRACT:
            return one.plus(other, Decimal(-1))
        case Arithmetic.MULTIPLY if not one.factors or not other.factors:
            constant, scaled = (one, other) if not one.factors else (other, one)
            empty: LinearForm[Part] = LinearForm({})
            return empty.plus(scaled, constant.constant)
    return None


def _most(
    form: LinearForm[Part],
    reach: Callable[[Part], Interval],
    never_above: Callable[[Part, Part], bool],
) -> Decimal | None:
    """The highest possible value; None if it has no bound. A part less another one that it is never
    above is at most 0."""
    paired = dict(form.factors)
    for small, large in [(a, b) for a in paired for b in paired if a != b and never_above(a, b)]:
        shared = min(paired[small], paired[large].copy_negate())
        if shared > 0:
            paired[small] = EXACT.subtract(paired[small], shared)
            paired[large] = EXACT.add(paired[large], shared)
    found = [_highest(factors, form.constant, reach) for factors in (form.factors, paired)]
    return min((end for end in found if end is not None), default=None)


def _highest(
    factors: Mapping[Part, Decimal], constant: Decimal, reach: Callable[[Part], Interval]
) -> Decimal | None:
    total = constant
    for part, factor in factors.items():
        if not factor:
            continue
        end = reach(part).high if factor > 0 else reach(part).low
        if end is None:
            return None
        total = EXACT.add(total, EXACT.multiply(factor, end))
    return total
