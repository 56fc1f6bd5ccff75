"""Interval arithmetic: the possible values of an expression, whatever the data."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from lakeguard.gate.grammar.literals import EXACT, MOST_ROWS
from lakeguard.gate.typecheck.linear_forms import Interval, LinearForm, combined, narrower
from lakeguard.gate.typecheck.simple_scalars import plain
from lakeguard.gate.typecheck.typed_values import type_limits
from lakeguard_sdk.expressions.aggregates import (
    Figure,
    Reckoned,
    Total,
    TotalValue,
)
from lakeguard_sdk.expressions.arithmetic_types import exact_size
from lakeguard_sdk.expressions.conditions import (
    Arithmetic,
    Calculation,
    Call,
    Choice,
    ElementCount,
    Function,
    IsNull,
    Length,
    Not,
    Scalar,
    Value,
    type_of,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctCount,
    Measure,
    Quantile,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS, is_numeric

_ZERO, _ONE = Decimal(0), Decimal(1)
_LONGEST = Decimal(2**31 - 1)
"""No engine holds a longer text or array."""


_ANYWHERE = Interval()
NOTHING = Interval(_ZERO, _ZERO)
_PARTS_OF_TIMES = {
    Function.MONTH: Interval(_ONE, Decimal(12)),
    Function.DAY: Interval(_ONE, Decimal(31)),
    Function.HOUR: Interval(_ZERO, Decimal(23)),
    Function.WEEKDAY: Interval(_ZERO, Decimal(6)),
}


def interval_of(node: Scalar) -> Interval:
    """Never too narrow; wider if the exact interval is unknown."""
    match node:
        case Value(type=kind, text=text) if is_numeric(kind):
            return Interval(Decimal(text), Decimal(text))
        case Length(of=Call(function=Function.SUBSTR, arguments=(_, _, Value(text=most)))):
            return Interval(_ZERO, Decimal(most))
        case Length() | ElementCount() | Call(function=Function.SIZE):
            return Interval(_ZERO, _LONGEST)
        case Choice(then=then, otherwise=otherwise):
            return _either(interval_of(then), interval_of(otherwise))
        case Calculation():
            return _calculated(node)
        case Call():
            return _called(node)
    kind = type_of(node)
    exact = is_numeric(kind) and kind not in FLOATS
    return Interval(*type_limits(kind)) if exact else _ANYWHERE


def _called(node: Call) -> Interval:
    if node.function in _PARTS_OF_TIMES:
        return _PARTS_OF_TIMES[node.function]
    inner = interval_of(node.arguments[0])
    match node.function:
        case Function.DAYS_BETWEEN if node.arguments[0] == node.arguments[1]:
            return NOTHING
        case Function.ABS:
            return _absolute(inner)
        case Function.NULLIF:
            return inner
        case Function.COALESCE:
            for other in node.arguments[1:]:
                inner = _either(inner, interval_of(other))
            return inner
        case Function.DOUBLE if inner.low is not None and inner.low >= 0:
            return Interval(_ZERO)
    return _ANYWHERE


def _absolute(inner: Interval) -> Interval:
    low, high = inner
    if low is not None and low >= 0:
        return inner
    if low is None or high is None:
        return Interval(_ZERO)
    return Interval(_ZERO, max(low.copy_abs(), high.copy_abs()))


def _either(one: Interval, other: Interval) -> Interval:
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return Interval(low, high)


def _calculated(node: Calculation) -> Interval:
    """Exact numbers only: a double may be rounded, infinite or NaN."""
    if node.type in FLOATS:
        return _ANYWHERE
    one, other = interval_of(node.left), interval_of(node.right)
    match node.op:
        case Arithmetic.SUBTRACT if node.left == node.right:
            return NOTHING
        case Arithmetic.REMAINDER:
            sizes = (exact_size(type_of(side)) for side in (node.left, node.right))
            whole = all(size is not None and size[1] == 0 for size in sizes)
            return _remainder(one, _absolute(other).high, _ONE if whole else _ZERO)
    return arithmetic_interval(node.op, one, other)


def difference_interval(one: Scalar, other: Scalar) -> Interval:
    """The possible values of one exact scalar less another one."""
    form = combined(Arithmetic.SUBTRACT, _linear(one), _linear(other))
    return _ANYWHERE if form is None else form.interval(interval_of, _never_above)


def _linear(node: Scalar) -> LinearForm[Scalar] | None:
    """None for anything but exact numbers."""
    kind = type_of(node)
    if not is_numeric(kind) or kind in FLOATS:
        return None
    match node:
        case Value(text=text):
            return LinearForm({}, Decimal(text))
        case Calculation(op=op, left=left, right=right):
            found = combined(op, _linear(left), _linear(right))
            if found is not None:
                return found
    return LinearForm({plain(node): _ONE})


def _never_above(one: Scalar, other: Scalar) -> bool:
    match other:
        case Call(function=Function.ABS, arguments=(of,)):
            return plain(of) == one
    match one:
        case Length(of=Call(function=Function.TRIM | Function.SUBSTR, arguments=(of, *_))):
            return isinstance(other, Length) and plain(of) == plain(other.of)
    return False


def arithmetic_interval(op: Arithmetic, one: Interval, other: Interval) -> Interval:
    """For exact numbers; wider if the exact interval is unknown."""
    match op:
        case Arithmetic.ADD:
            return Interval(_sum(one.low, other.low), _sum(one.high, other.high))
        case Arithmetic.SUBTRACT:
            return Interval(_sum(one.low, other.high, -1), _sum(one.high, other.low, -1))
        case Arithmetic.MULTIPLY:
            return _product(one, other)
        case Arithmetic.DIVIDE if all(of.low is not None and of.low >= 0 for of in (one, other)):
            return Interval(_ZERO)
    return _ANYWHERE


def _sum(one: Decimal | None, other: Decimal | None, sign: int = 1) -> Decimal | None:
    if one is None or other is None:
        return None
    return EXACT.add(one, other) if sign > 0 else EXACT.subtract(one, other)


def _product(one: Interval, other: Interval) -> Interval:
    ends = [end for end in (*one, *other) if end is not None]
    if len(ends) < 4:
        below = any(reach.low is None or reach.low < 0 for reach in (one, other))
        return _ANYWHERE if below else Interval(_ZERO)
    found = [EXACT.multiply(left, right) for left, right in product(ends[:2], ends[2:])]
    return Interval(min(found), max(found))


def _remainder(of: Interval, by: Decimal | None, less: Decimal) -> Interval:
    """The remainder has the sign of the dividend and is smaller than the divisor."""
    most = None if by is None else EXACT.subtract(by, less)
    if of.low is not None and of.low >= 0:
        return Interval(_ZERO, most)
    return Interval(None if most is None else most.copy_negate(), most)


# Intervals of values computed from aggregates.

_COUNTS = (RowCount, CountIf, DistinctCount)
_MOST = Decimal(MOST_ROWS)
_ROUNDED = Decimal("0.000001")
"""Share by which a rounded mean or quantile may exceed the values that it is computed from."""


def measure_interval(measure: Measure, rows: int = 0) -> Interval:
    """The possible values of a measure of at least ``rows`` rows; wider if it is unknown."""
    match measure:
        case RowCount():
            return Interval(Decimal(rows), _MOST)
        case CountIf() | DistinctCount():
            return Interval(_ZERO, _MOST)
        case Aggregate(function=AggregateFunction.MIN | AggregateFunction.MAX, column=column):
            return interval_of(column)
        case Aggregate(function=AggregateFunction.SUM, column=column):
            return _summed(interval_of(column))
        case Aggregate(function=AggregateFunction.DEVIATION):
            return Interval(_ZERO)
        case Aggregate(function=AggregateFunction.MEAN, column=column) | Quantile(column=column):
            return _widened(interval_of(column))
    return _ANYWHERE


def _summed(of: Interval) -> Interval:
    """Of one value or as many as a table may have."""
    low, high = of
    return Interval(
        None if low is None else min(low, EXACT.multiply(low, _MOST)),
        None if high is None else max(high, EXACT.multiply(high, _MOST)),
    )


def _widened(of: Interval) -> Interval:
    low, high = of
    return Interval(
        None if low is None else EXACT.subtract(low, EXACT.multiply(low.copy_abs(), _ROUNDED)),
        None if high is None else EXACT.add(high, EXACT.multiply(high.copy_abs(), _ROUNDED)),
    )


_DIVIDING = (Arithmetic.DIVIDE, Arithmetic.REMAINDER)


def aggregate_interval(of: TotalValue, terms: Sequence[Measure], rows: int) -> Interval:
    """For at least ``rows`` rows; wider if the exact interval is unknown."""
    match of:
        case Figure(text=text):
            return Interval(Decimal(text), Decimal(text))
        case Total(term=term):
            return measure_interval(terms[term], rows)
        case Reckoned(op=op, left=left, right=right):
            if op is Arithmetic.SUBTRACT and left == right and not _is_exact(left, terms):
                return _ANYWHERE
            sides = (aggregate_interval(side, terms, rows) for side in (left, right))
            found = arithmetic_interval(op, *sides)
            if op is Arithmetic.DIVIDE:
                part = total_difference(left, right, terms, rows)
                at_most_one = found.low is not None and part.high is not None and part.high <= 0
                return Interval(found.low, _ONE) if at_most_one else found
            form = _linear_total(of, terms)
            if form is None:
                return found
            reach = form.interval(lambda term: measure_interval(term, rows), _counts_less)
            return narrower(found, reach)


def total_difference(
    one: TotalValue, other: TotalValue, terms: Sequence[Measure], rows: int
) -> Interval:
    """The possible values of one total less another one."""
    return aggregate_interval(Reckoned(op=Arithmetic.SUBTRACT, left=one, right=other), terms, rows)


def _linear_total(of: TotalValue, terms: Sequence[Measure]) -> LinearForm[Measure] | None:
    """None unless all terms are exact."""
    match of:
        case Figure(text=text):
            return LinearForm({}, Decimal(text))
        case Total(term=term):
            return LinearForm({terms[term]: _ONE}) if _is_exact(of, terms) else None
        case Reckoned(op=op, left=left, right=right):
            return combined(op, _linear_total(left, terms), _linear_total(right, terms))


def _counts_less(one: Measure, other: Measure) -> bool:
    """Whether a term is never above another one; all terms of a rule are of the same rows."""
    match one, other:
        case CountIf() | DistinctCount(), RowCount():
            return True
        case DistinctCount(columns=(column,)), CountIf(condition=Not(item=IsNull(of=of))):
            return of == column
        case Aggregate(function=AggregateFunction.MIN), Aggregate(function=AggregateFunction.MAX):
            return one.column == other.column
    return False


def is_there(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether it always has a value."""
    match of:
        case Total(term=term):
            return isinstance(terms[term], _COUNTS)
        case Reckoned(op=op, left=left, right=right):
            both = is_there(left, terms) and is_there(right, terms)
            return both and op not in _DIVIDING
    return True


def _is_exact(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether none of its terms can be NaN or infinite."""
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
