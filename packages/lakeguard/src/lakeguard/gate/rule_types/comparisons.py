"""``eq``, ``ne``, ``gt``, ``ge``, ``lt`` and ``le``: every value against one that is given."""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.comparability import orderable
from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.typed_conditions import INWARD
from lakeguard.gate.written import OPPOSITES
from lakeguard_sdk.expression import Compare, Comparison, Condition, IsNan, Or
from lakeguard_sdk.schema import FLOATS


class ValueComparison(RuleType):
    """One class for all: a value that the column's type cannot hold moves where it may."""

    relation: ClassVar[Comparison]
    nulls = "NULL passes. NaN fails: it stands in no relation to anything."
    takes = "any but binary and nested"
    parameters = (ParameterSpec("value", "literal", "what it is compared with", required=True),)
    principal = "value"

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        columns.column_of("a column with values to compare", column.type != "binary")
        if not orderable(column.type, self.relation):
            message = f"{column.name} is {column.type}, which has no order: use eq or ne"
            raise read.error("column 0", message)
        opposite = OPPOSITES[self.relation]
        value = columns.value("value", column, INWARD[self.relation])
        failing: Condition = Compare(op=opposite, left=column, right=value)
        if column.type in FLOATS:
            failing = Or(items=(IsNan(of=column), failing))
        return failing_rows(failing, columns.where)


class Equal(ValueComparison):
    name = "eq"
    summary = "Every value equals the one given."
    example = "eq(currency, value='EUR')"
    relation = Comparison.EQ


class NotEqual(ValueComparison):
    name = "ne"
    summary = "No value equals the one given."
    example = "ne(tail_num, value='UNKNOWN')"
    relation = Comparison.NE


class GreaterThan(ValueComparison):
    name = "gt"
    summary = "Every value is greater than the one given."
    example = "gt(distance, value=0)"
    relation = Comparison.GT


class AtLeast(ValueComparison):
    name = "ge"
    summary = "Every value is the one given or greater."
    example = "ge(flight_date, value='2013-01-01')"
    relation = Comparison.GE


class LessThan(ValueComparison):
    name = "lt"
    summary = "Every value is less than the one given."
    example = "lt(sched_hour, value=24)"
    relation = Comparison.LT


class AtMost(ValueComparison):
    name = "le"
    summary = "Every value is the one given or less."
    example = "le(dep_delay, value=2000)"
    relation = Comparison.LE


COMPARISONS = (Equal(), NotEqual(), GreaterThan(), AtLeast(), LessThan(), AtMost())
