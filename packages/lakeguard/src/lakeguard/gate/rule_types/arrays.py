"""``array_size(column, min=, max=)`` and ``array_elements(column, condition)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.rule_types.value_range import any_of, check_bounds, outside
from lakeguard_sdk.expression import (
    Call,
    Compare,
    Comparison,
    ElementCount,
    Function,
    Not,
    Value,
)
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, type_text


class ArraySize(RuleType):
    name = "array_size"
    summary = "Every array or map has as many elements as the bounds allow."
    example = "array_size(tags, min=1, max=10)"
    nulls = "NULL passes. A NULL element is an element."
    takes = "arrays and maps"
    nested = True
    parameters = (
        ParameterSpec("min", "whole", "the fewest elements that pass"),
        ParameterSpec("max", "whole", "the most elements that pass"),
    )

    def check(self, read: ReadRule) -> None:
        check_bounds(read)
        if read.rule.parameter("max") is None and read.rule.parameter("min") == Number(
            value=Decimal(0)
        ):
            raise read.error("parameter min", "every array has at least 0 elements")

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        columns.column_of("an array or a map", column.type.startswith(("array<", "map<")))
        low, high, _ = columns.bounds("integer")
        size = Call(function=Function.SIZE, arguments=(column,), type="integer")
        return failing_rows(any_of(outside(size, low, high)), columns.where)


class ArrayElements(RuleType):
    name = "array_elements"
    summary = "The condition holds for every element of every array; `value` is the element."
    example = "array_elements(tags, length(value) <= 20)"
    nulls = "A row fails where the condition is FALSE for an element; NULL elements pass."
    takes = "arrays of values that are not nested"
    nested = True
    parameters = (
        ParameterSpec("condition", "condition", "what holds for every element", required=True),
    )
    says = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        found = parse_type(column.type)
        element = found.element if isinstance(found, ArrayOf) else None
        columns.column_of("an array of values that are not nested", isinstance(element, str))
        condition = columns.said_of_elements(type_text(element or "string"))
        failing = ElementCount(of=column, condition=Not(item=condition))
        none = Value(type="integer", text="0")
        return failing_rows(Compare(op=Comparison.GT, left=failing, right=none), columns.where)
