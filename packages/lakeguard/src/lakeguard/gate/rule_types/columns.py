"""``compare(a <= b)``"""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import Operator, ParsedRule
from lakeguard.gate.grammar.syntax_tree import OPPOSITES
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck
from lakeguard.gate.typecheck.comparability import comparable, orderable
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard.gate.typecheck.typed_conditions import INWARD
from lakeguard.gate.typecheck.typed_values import NoSuchValue, Rounding, typed_value
from lakeguard_sdk.expressions.arithmetic_types import NotExact, absolute_type, arithmetic_types
from lakeguard_sdk.expressions.conditions import (
    And,
    Arithmetic,
    Calculation,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Function,
    IsNan,
    IsNull,
    Not,
    Or,
)
from lakeguard_sdk.types.schema import FLOATS, is_numeric

_TOLERANT = (Comparison.EQ, Comparison.LE, Comparison.GE)


class ColumnOrder(RuleType):
    name = "compare"
    summary = "The comparison of the two columns holds in every row: = <> < <= > >=."
    example = "compare(sched_dep_time <= sched_arr_time)"
    nulls = "A row with a NULL on either side passes. NaN on either side fails."
    takes = "two columns of comparable types; booleans only with = and <>; not binary or nested"
    columns = (2, 2)
    parameters = (
        ParameterSpec("op", "operator", "the comparison, written between the columns"),
        ParameterSpec("tolerance", "number", "how far numbers may be off; only with = <= and >="),
    )
    compares = True

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        left, right = columns.every
        op = read.rule.parameter("op")
        relation = op.op if isinstance(op, Operator) else Comparison.EQ
        if not comparable(left.type, right.type):
            raise read.error(
                "column 1",
                (
                    f"{left.name} ({left.type}) cannot be compared with {right.name} "
                    f"({right.type}) consistently in every engine"
                ),
            )
        if not orderable(left.type, relation):
            raise read.error("parameter op", f"a {left.type} cannot be ordered: use = or <>")
        opposite: Condition = Compare(op=OPPOSITES[relation], left=left, right=right)
        if read.rule.parameter("tolerance") is not None:
            beyond = _beyond(read, left, right, relation)
            opposite = And(items=(opposite, beyond))
        return failing_rows(_failing(left, right, opposite), columns.where)


def _beyond(read: ParsedRule, left: ColumnRef, right: ColumnRef, relation: Comparison) -> Condition:
    """Whether the comparison is missed by more than the tolerance."""
    tolerance = read.rule.parameter("tolerance")
    if relation not in _TOLERANT:
        raise read.error("parameter tolerance", "a tolerance needs = <= or >=")
    if not is_numeric(left.type):
        raise read.error("parameter tolerance", f"{left.type} values do not support a tolerance")
    if not isinstance(tolerance, Number) or tolerance.value <= 0:
        raise read.error("parameter tolerance", "a tolerance must be greater than 0")
    sides = (right, left) if relation is Comparison.GE else (left, right)
    try:
        distance = _distance(*sides, signed=relation is not Comparison.EQ)
        limit = typed_value(tolerance, distance.type, Rounding.DOWN)
    except (NotExact, NoSuchValue) as reason:
        raise read.error("parameter tolerance", str(reason)) from None
    return Compare(op=Comparison.GT, left=distance, right=limit)


def _distance(left: ColumnRef, right: ColumnRef, *, signed: bool) -> Calculation | Call:
    kind = arithmetic_types(Arithmetic.SUBTRACT, left.type, right.type).result
    distance = Calculation(op=Arithmetic.SUBTRACT, left=left, right=right, type=kind)
    if signed:
        return distance
    return Call(function=Function.ABS, arguments=(distance,), type=absolute_type(kind))


def _failing(left: ColumnRef, right: ColumnRef, opposite: Condition) -> Condition:
    """Engines order NaN above every number; here every comparison with NaN fails."""
    floats = [column for column in (left, right) if column.type in FLOATS]
    if not floats:
        return opposite
    present = tuple(Not(item=IsNull(of=column)) for column in (left, right))
    failing = Or(items=(*(IsNan(of=column) for column in floats), opposite))
    return And(items=(*present, failing))


# ``eq``, ``ne``, ``gt``, ``ge``, ``lt`` and ``le``: every value compared with a constant.


class ValueComparison(RuleType):
    """One class for all; a constant that the column type cannot hold is rounded where that keeps
    the meaning."""

    relation: ClassVar[Comparison]
    nulls = "NULL passes. NaN fails every comparison."
    takes = "any type except binary and nested"
    parameters = (ParameterSpec("value", "literal", "the value to compare with", required=True),)
    principal = "value"

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a column with values to compare", column.type != "binary")
        if not orderable(column.type, self.relation):
            message = f"{column.name} is {column.type}, which cannot be ordered: use eq or ne"
            raise read.error("column 0", message)
        opposite = OPPOSITES[self.relation]
        value = columns.value("value", column, INWARD[self.relation])
        failing: Condition = Compare(op=opposite, left=column, right=value)
        if column.type in FLOATS:
            failing = Or(items=(IsNan(of=column), failing))
        return failing_rows(failing, columns.where)


class Equal(ValueComparison):
    name = "eq"
    summary = "Every value equals the given one."
    example = "eq(currency, value='EUR')"
    relation = Comparison.EQ


class NotEqual(ValueComparison):
    name = "ne"
    summary = "No value equals the given one."
    example = "ne(tail_num, value='UNKNOWN')"
    relation = Comparison.NE


class GreaterThan(ValueComparison):
    name = "gt"
    summary = "Every value is greater than the given one."
    example = "gt(distance, value=0)"
    relation = Comparison.GT


class AtLeast(ValueComparison):
    name = "ge"
    summary = "Every value is greater than or equal to the given one."
    example = "ge(flight_date, value='2013-01-01')"
    relation = Comparison.GE


class LessThan(ValueComparison):
    name = "lt"
    summary = "Every value is less than the given one."
    example = "lt(sched_hour, value=24)"
    relation = Comparison.LT


class AtMost(ValueComparison):
    name = "le"
    summary = "Every value is less than or equal to the given one."
    example = "le(dep_delay, value=2000)"
    relation = Comparison.LE


COMPARISONS = (Equal(), NotEqual(), GreaterThan(), AtLeast(), LessThan(), AtMost())
