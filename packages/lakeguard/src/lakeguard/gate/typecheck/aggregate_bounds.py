"""The possible values of measures and of what is computed from them, whatever the data."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lakeguard.gate.grammar.literals import EXACT, MOST_ROWS
from lakeguard.gate.typecheck.intervals import (
    ANYWHERE,
    NEVER_NEGATIVE,
    ZERO,
    Interval,
    arithmetic_interval,
    is_never_negative,
    narrower,
    only,
    remainder,
)
from lakeguard.gate.typecheck.linear_forms import LinearForm, combined
from lakeguard.gate.typecheck.scalars import at_evidence_precision
from lakeguard.gate.typecheck.typed_values import type_limits
from lakeguard.gate.typecheck.value_bounds import interval_of, step_of
from lakeguard_sdk.expressions.aggregates import Figure, Reckoned, Total, TotalValue
from lakeguard_sdk.expressions.arithmetic_types import exact_size
from lakeguard_sdk.expressions.conditions import Arithmetic, ColumnRef, IsNull, Not, type_of
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctCount,
    Measure,
    Quantile,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS

_ONE = Decimal(1)
_COUNTS = (RowCount, CountIf, DistinctCount)
_MOST = Decimal(MOST_ROWS)
_WIDEST_DEVIATION = Decimal("0.71")
"""Share of the range: of two values the deviation is their distance divided by the root of 2, of
more it is a smaller share."""
_DIVIDING = (Arithmetic.DIVIDE, Arithmetic.REMAINDER)


def measure_interval(measure: Measure, rows: int = 0) -> Interval:
    """The possible values of a measure of at least ``rows`` rows; wider if it is unknown."""
    match measure:
        case RowCount():
            return Interval(Decimal(rows), _MOST)
        case CountIf():
            return Interval(Decimal(0), _MOST)
        case DistinctCount(columns=columns):
            return Interval(Decimal(0), _most_keys(columns))
        case Aggregate(function=AggregateFunction.MIN | AggregateFunction.MAX, column=column):
            return interval_of(column)
        case Aggregate(function=AggregateFunction.SUM, column=column):
            return _summed(interval_of(column))
        case Aggregate(function=AggregateFunction.DEVIATION, column=column):
            low, high = interval_of(column)
            if low is None or high is None:
                return NEVER_NEGATIVE
            width = EXACT.subtract(high, low)
            return Interval(Decimal(0), EXACT.multiply(width, _WIDEST_DEVIATION))
        case Aggregate(function=AggregateFunction.MEAN, column=column) | Quantile(column=column):
            return _at_evidence_precision(interval_of(column))
    return ANYWHERE


def _most_keys(columns: Sequence[ColumnRef]) -> Decimal:
    """The highest possible number of distinct keys."""
    most = _ONE
    for column in columns:
        if exact_size(column.type) is not None:
            low, high = type_limits(column.type)
            step = step_of(column) or _ONE
            width = EXACT.subtract(high, low)
            most = EXACT.multiply(most, EXACT.add(EXACT.divide(width, step), _ONE))
        else:
            most = EXACT.multiply(most, Decimal(2) if column.type == "boolean" else _MOST)
    return min(most, _MOST)


def _summed(of: Interval) -> Interval:
    """The possible sums of one value or as many as a table may have."""
    low, high = of
    return Interval(
        None if low is None else min(low, EXACT.multiply(low, _MOST)),
        None if high is None else max(high, EXACT.multiply(high, _MOST)),
    )


def _at_evidence_precision(of: Interval) -> Interval:
    """The exact mean or quantile is rounded as bounds are, which keeps the order."""
    ends = (
        None if end is None else at_evidence_precision(end, "double", summed=True) for end in of
    )
    return Interval(*ends)


def aggregate_interval(of: TotalValue, terms: Sequence[Measure], rows: int) -> Interval:
    """The possible values for at least ``rows`` rows; wider if the exact interval is unknown."""
    match of:
        case Figure(text=text):
            return only(Decimal(text))
        case Total(term=term):
            return measure_interval(terms[term], rows)
        case Reckoned(op=op, left=left, right=right):
            one, other = (aggregate_interval(side, terms, rows) for side in (left, right))
            if op in _DIVIDING and left == right and _is_exact(left, terms):
                return only(_ONE) if op is Arithmetic.DIVIDE else ZERO
            if op is Arithmetic.REMAINDER:
                return remainder(one, other, _step(of, terms) or Decimal(0))
            if op is not Arithmetic.DIVIDE:
                return _reckoned(of, one, other, terms, rows)
            other = _without_zero(other, _step(right, terms))
            less = Reckoned(op=Arithmetic.SUBTRACT, left=left, right=right)
            return _ratio(one, other, _reckoned(less, one, other, terms, rows))


def _without_zero(divisor: Interval, step: Decimal | None) -> Interval:
    """Nothing is divided by 0, so an end of 0 is at least one step off."""
    low, high = divisor
    if step is None:
        return divisor
    return Interval(step if low == 0 else low, step.copy_negate() if high == 0 else high)


def _ratio(one: Interval, other: Interval, difference: Interval) -> Interval:
    """One divided by the other, given the difference of both: a part is at most all of it."""
    found = arithmetic_interval(Arithmetic.DIVIDE, one, other)
    if not is_never_negative(other):
        return found
    part = difference.high is not None and difference.high <= 0
    return narrower(
        found, Interval(_ONE if is_never_negative(difference) else None, _ONE if part else None)
    )


def _reckoned(
    of: Reckoned, one: Interval, other: Interval, terms: Sequence[Measure], rows: int
) -> Interval:
    """The possible values of a sum, difference or product, by the intervals of its sides: each is
    worked out once."""
    if of.op is Arithmetic.SUBTRACT and of.left == of.right and not _is_exact(of.left, terms):
        return ANYWHERE
    found, form = arithmetic_interval(of.op, one, other), _linear_total(of, terms)
    if form is None:
        return found
    linear = form.interval(lambda term: measure_interval(term, rows), _measure_never_above)
    return narrower(found, linear)


def total_difference(
    one: TotalValue, other: TotalValue, terms: Sequence[Measure], rows: int
) -> Interval:
    """The possible values of one total less another one."""
    return aggregate_interval(Reckoned(op=Arithmetic.SUBTRACT, left=one, right=other), terms, rows)


def never_equal(one: TotalValue, other: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether the totals differ because of the steps that they go in, as ``2 * count(*)`` and 3."""
    less = _linear_total(Reckoned(op=Arithmetic.SUBTRACT, left=one, right=other), terms)
    return less is not None and less.is_never_zero(_measure_step)


def whole_values(of: TotalValue, terms: Sequence[Measure], rows: int, most: int) -> set[Decimal]:
    """All possible values, if they are whole numbers and at most so many; else none."""
    low, high = aggregate_interval(of, terms, rows)
    if low is None or high is None or _step(of, terms) != 1:
        return set()
    width = EXACT.subtract(high, low)
    return {
        EXACT.add(low, Decimal(index)) for index in range(int(width) + 1 if width < most else 0)
    }


def _linear_total(of: TotalValue, terms: Sequence[Measure]) -> LinearForm[Measure] | None:
    """The total as a sum of measures; None unless all of them are exact."""
    match of:
        case Figure(text=text):
            return LinearForm({}, Decimal(text))
        case Total(term=term):
            return LinearForm({terms[term]: _ONE}) if _is_exact(of, terms) else None
        case Reckoned(op=op, left=left, right=right):
            return combined(op, _linear_total(left, terms), _linear_total(right, terms))


def _measure_never_above(one: Measure, other: Measure) -> bool:
    """Whether a measure is at most another one of the same rows, as all of a rule are; False if
    that is unknown."""
    match one, other:
        case CountIf() | DistinctCount(), RowCount():
            return True
        case DistinctCount(columns=(column,)), CountIf(condition=Not(item=IsNull(of=of))):
            return of == column
        case Aggregate(function=AggregateFunction.MIN), Aggregate(function=AggregateFunction.MAX):
            return one.column == other.column
    return False


def _measure_step(measure: Measure) -> Decimal | None:
    """The number that every value of the measure is a multiple of; None if there is none."""
    if isinstance(measure, _COUNTS):
        return _ONE
    added = (AggregateFunction.SUM, AggregateFunction.MIN, AggregateFunction.MAX)
    if isinstance(measure, Aggregate) and measure.function in added:
        return step_of(measure.column)
    return None


def _step(of: TotalValue, terms: Sequence[Measure]) -> Decimal | None:
    """A power of ten that every value is a multiple of, at most 1; None if there is none."""
    match of:
        case Figure(text=text):
            exponent = Decimal(text).as_tuple().exponent
            return _ONE.scaleb(min(exponent, 0)) if isinstance(exponent, int) else None
        case Total(term=term):
            return _measure_step(terms[term])
        case Reckoned(op=op, left=left, right=right):
            one, other = _step(left, terms), _step(right, terms)
            if one is None or other is None or op is Arithmetic.DIVIDE:
                return None
            return EXACT.multiply(one, other) if op is Arithmetic.MULTIPLY else min(one, other)


def is_there(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether the total always has a value."""
    match of:
        case Total(term=term):
            return isinstance(terms[term], _COUNTS)
        case Reckoned(op=op, left=left, right=right):
            both = is_there(left, terms) and is_there(right, terms)
            return both and op not in _DIVIDING
    return True


def _is_exact(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether none of the terms can be NaN or infinite."""
    match of:
        case Total(term=term):
            measure = terms[term]
            if not isinstance(measure, Aggregate):
                return True
            mean = measure.function is AggregateFunction.MEAN
            return not mean and type_of(measure.column) not in FLOATS
        case Reckoned(left=left, right=right):
            return _is_exact(left, terms) and _is_exact(right, terms)
    return True
