"""Whether the measures of one column agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise

from lakeguard.gate.typecheck.checks import Scalar
from lakeguard.gate.typecheck.constant_conditions import never_true
from lakeguard.gate.typecheck.scalars import NotAValue, as_scalar
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.expressions.measures import AggregateFunction, MeasureValue
from lakeguard_sdk.types.schema import FLOATS, INTEGERS

_MIN, _MAX = AggregateFunction.MIN, AggregateFunction.MAX
_SPREAD = AggregateFunction.DEVIATION
_SLACK = Decimal("1e-9")
"""Relative: sums, means and quantiles of doubles are rounded to 12 digits in evidence."""
_MOST_PAIRS = 200


@dataclass(frozen=True)
class ColumnMeasures:
    """What was measured of a column, among the rows that ``where`` selects."""

    column: ColumnRef
    where: Condition | None
    aggregates: Mapping[AggregateFunction, MeasureValue]
    quantiles: Mapping[Fraction, MeasureValue]
    counted: Mapping[Condition, int]
    """Rows by condition, over any columns."""
    rows: int | None
    present: int | None
    """Rows with a value in the column."""
    distinct: int | None

    def problems(self) -> Iterator[str]:
        name = self.column.name
        yield from (f"{name}: {problem}" for problem in self._presence_problems())
        yield from (f"{name}: {problem}" for problem in self._range_problems())
        yield from (f"{name}: {problem}" for problem in self._total_problems())
        yield from (f"{name}: {problem}" for problem in self._condition_problems())

    def problems_of_part(self, part: ColumnMeasures) -> Iterator[str]:
        """Measures of some of these rows against those of all of them."""
        name = self.column.name
        if _above(self._value(_MIN), part._value(_MIN)):
            yield f"{name}: the minimum of some rows is below that of all"
        if _above(part._value(_MAX), self._value(_MAX)):
            yield f"{name}: the maximum of some rows is above that of all"
        for condition, count in part.counted.items():
            if count > self.counted.get(condition, count):
                yield f"{name}: more of some rows meet a condition than of all"

    def _value(self, function: AggregateFunction) -> Scalar | None:
        """An extreme; None if it is missing, was not measured, or is no value of the type."""
        try:
            return as_scalar(self.aggregates.get(function), self.column.type)
        except NotAValue:
            return None

    def _double(self, value: MeasureValue) -> Decimal | None:
        """A mean, sum, deviation or quantile; None if it is missing or not finite."""
        try:
            found = as_scalar(value, "double")
        except NotAValue:
            return None
        return found if isinstance(found, Decimal) and found.is_finite() else None

    # A column without values has no minimum, one with values has one.

    def _presence_problems(self) -> Iterator[str]:
        needs_one = [
            value for function, value in self.aggregates.items() if function is not _SPREAD
        ]
        answers = {value is None for value in (*needs_one, *self.quantiles.values())}
        if len(answers) > 1:
            yield "some aggregates have a value and others none"
        elif self.present is not None and answers and answers != {self.present == 0}:
            yield "aggregates and the number of rows with a value disagree"
        if self.rows is not None and self.present is not None and self.present > self.rows:
            yield "more rows have a value than there are rows"

    # Minimum and maximum, and the number of different values between them.

    def _range_problems(self) -> Iterator[str]:
        low, high = self._value(_MIN), self._value(_MAX)
        if low is None or high is None:
            return
        if _above(low, high):
            yield "the minimum is above the maximum"
            return
        if self.column.type in FLOATS or self.distinct is None:
            return
        if (self.distinct == 1) != (low == high):
            yield "the number of distinct values does not fit minimum and maximum"
        elif self.distinct > _most_between(low, high, self.column.type, self.distinct):
            yield "there are more distinct values than fit between minimum and maximum"

    # Means, sums, deviations and quantiles lie where the extremes allow.

    def _total_problems(self) -> Iterator[str]:
        low, high = self._value(_MIN), self._value(_MAX)
        if not (isinstance(low, Decimal) and isinstance(high, Decimal)):
            return
        if not (low.is_finite() and high.is_finite()):
            return
        slack = max(abs(low), abs(high), Decimal(1)) * _SLACK
        named = {"mean": self._double(self.aggregates.get(AggregateFunction.MEAN))}
        named |= {f"{float(q):g} quantile": self._double(v) for q, v in self.quantiles.items()}
        for what, value in named.items():
            if value is not None and not low - slack <= value <= high + slack:
                yield f"the {what} is outside of minimum and maximum"
        spread = self._double(self.aggregates.get(_SPREAD))
        if spread is not None and not 0 <= spread <= high - low + slack:
            yield "the deviation does not fit minimum and maximum"
        ordered = [self._double(self.quantiles[q]) for q in sorted(self.quantiles)]
        present = [value for value in ordered if value is not None]
        if any(one > other + slack for one, other in pairwise(present)):
            yield "a higher quantile is below a lower one"
        yield from self._sum_problems(low, high)

    def _sum_problems(self, low: Decimal, high: Decimal) -> Iterator[str]:
        total = self._double(self.aggregates.get(AggregateFunction.SUM))
        if total is None or self.present is None:
            return
        least, most = low * self.present, high * self.present
        slack = max(abs(least), abs(most), Decimal(1)) * _SLACK
        if not least - slack <= total <= most + slack:
            yield "the sum does not fit minimum, maximum and rows"

    # Rows that meet a condition over this column alone.

    def _condition_problems(self) -> Iterator[str]:
        about = {
            condition: rows
            for condition, rows in self.counted.items()
            if _only_about(condition, self.column)
        }
        if _MIN in self.aggregates and _MAX in self.aggregates:
            for condition, rows in about.items():
                yield from self._counted_problems(condition, rows)
        if self.rows is not None:
            for one, other in list(combinations(about, 2))[:_MOST_PAIRS]:
                exclusive = about[one] + about[other] > self.rows
                if exclusive and never_true(And(items=(one, other))):
                    yield "conditions that exclude each other were both met by some row"

    def _counted_problems(self, condition: Condition, rows: int) -> Iterator[str]:
        if self.aggregates[_MIN] is None or self.aggregates[_MAX] is None:
            if rows and never_true(And(items=(condition, IsNull(of=self.column)))):
                yield "rows meet a condition, but no row has a value"
            return
        low, high = self._value(_MIN), self._value(_MAX)
        if low is None or high is None:
            return
        ends = [self._at(low, Comparison.EQ), self._at(high, Comparison.EQ)]
        met = sum(self._meets(condition, end) for end in dict.fromkeys(ends))
        if rows < met:
            yield "an extreme meets a condition that too few rows were counted for"
        between = (*self._reach(low, high), condition)
        at_null = And(items=(condition, IsNull(of=self.column)))
        if rows and never_true(And(items=between)) and never_true(at_null):
            yield "rows meet a condition that no value between the extremes meets"

    def _meets(self, condition: Condition, at: Condition) -> bool:
        """Whether the condition is TRUE for that value."""
        return never_true(And(items=(Not(item=condition), at)))

    def _reach(self, low: Scalar, high: Scalar) -> tuple[Condition, ...]:
        """NaN is above every number, so a maximum of NaN is no bound."""
        bounds = [self._at(low, Comparison.GE)]
        if not _is_nan(high):
            bounds.append(self._at(high, Comparison.LE))
        return tuple(bounds)

    def _at(self, value: Scalar, op: Comparison) -> Condition:
        if _is_nan(value):
            return IsNan(of=self.column)
        text = str(value) if isinstance(value, Decimal) else value.isoformat()
        literal = Value(type=self.column.type, text=text)
        return Compare(op=op, left=self.column, right=literal)


def _only_about(condition: Condition, column: ColumnRef) -> bool:
    """Whether it compares the column with literals only, so that it is TRUE or FALSE for every
    value."""
    match condition:
        case And(items=items) | Or(items=items):
            return all(_only_about(item, column) for item in items)
        case Not(item=item):
            return _only_about(item, column)
        case Compare(left=left, right=right):
            return left == column and isinstance(right, Value)
        case InSet(of=of) | IsNull(of=of) | IsNan(of=of):
            return of == column
    return False


def _is_nan(value: Scalar) -> bool:
    return isinstance(value, Decimal) and value.is_nan()


def _above(one: Scalar | None, other: Scalar | None) -> bool:
    """Whether both are known and the first is greater; NaN is greater than every number."""
    if one is None or other is None or _is_nan(one) or _is_nan(other):
        return one is not None and other is not None and _is_nan(one) and not _is_nan(other)
    return bool(one > other)  # type: ignore[operator]  # of one column, hence of one type


def _most_between(low: Scalar, high: Scalar, data_type: str, otherwise: int) -> int:
    """How many different values there can be."""
    if data_type in INTEGERS and isinstance(low, Decimal) and isinstance(high, Decimal):
        return int(high - low) + 1
    if data_type == "date" and isinstance(low, date) and isinstance(high, date):
        return (high - low).days + 1
    return otherwise
