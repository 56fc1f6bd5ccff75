"""``array_size(column, min=, max=)`` and ``array_elements(column, condition)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_range import any_of, check_bounds, outside
from lakeguard.gate.typecheck.checks import RowCheck
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.conditions import (
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Element,
    ElementCount,
    Function,
    InSet,
    Not,
    Value,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import ArrayOf, MapOf, type_text


class ArraySize(RuleType):
    name = "array_size"
    summary = "The number of elements of every array or map is within the bounds."
    example = "array_size(tags, min=1, max=10)"
    nulls = "NULL passes. NULL elements count."
    takes = "arrays and maps"
    nested = True
    parameters = (
        ParameterSpec("min", "whole", "minimum number of elements"),
        ParameterSpec("max", "whole", "maximum number of elements"),
    )

    def check(self, read: ParsedRule) -> None:
        check_bounds(read)
        if read.rule.parameter("max") is None and read.rule.parameter("min") == Number(
            value=Decimal(0)
        ):
            raise read.error(
                "parameter min", ("this always holds: every array has at least 0 elements")
            )

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("an array or a map", column.type.startswith(("array<", "map<")))
        low, high, _ = columns.bounds("integer")
        size = Call(function=Function.SIZE, arguments=(column,), type="integer")
        return failing_rows(any_of(outside(size, low, high)), columns.where)


class ArrayElements(RuleType):
    name = "array_elements"
    summary = "The condition holds for every element of every array; `value` is the element."
    example = "array_elements(tags, length(value) <= 20)"
    nulls = "A row fails if the condition is FALSE for an element; NULL elements pass."
    takes = "arrays of values that are not nested"
    nested = True
    parameters = (
        ParameterSpec(
            "condition",
            "condition",
            ("the condition that every element must satisfy"),
            required=True,
        ),
    )
    takes_condition = True

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        found = parse_type(column.type)
        element = found.element if isinstance(found, ArrayOf) else None
        columns.column_of("an array of values that are not nested", isinstance(element, str))
        condition = columns.element_condition(type_text(element or "string"))
        failing = ElementCount(of=column, condition=Not(item=condition))
        none = Value(type="integer", text="0")
        return failing_rows(Compare(op=Comparison.GT, left=failing, right=none), columns.where)


# ``map_keys(column, allowed=[…], required=[…])``

_NONE = Value(type="integer", text="0")


class MapKeys(RuleType):
    name = "map_keys"
    summary = "Every map has only allowed keys and has every required key."
    example = "map_keys(labels, allowed=['team', 'cost', 'env'], required=['team'])"
    nulls = "NULL passes. A key counts even if its value is NULL."
    takes = "maps with keys that are neither nested nor binary"
    nested = True
    parameters = (
        ParameterSpec("allowed", "list", "keys that may be present"),
        ParameterSpec("required", "list", "keys that must be present"),
    )

    def check(self, read: ParsedRule) -> None:
        if read.rule.parameter("allowed") is None and read.rule.parameter("required") is None:
            raise read.error("type", "map_keys needs allowed, required or both")

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        found = parse_type(column.type)
        key = found.key if isinstance(found, MapOf) else None
        plain = isinstance(key, str) and key != "binary"
        columns.column_of("a map whose keys are not nested", plain)
        element = Element(type=type_text(key or "string"))
        listed = ColumnRef(name=column.name, type=element.type)
        allowed, required = (columns.values(name, listed) for name in ("allowed", "required"))
        for index, value in enumerate(required):
            if allowed and value not in allowed:
                raise read.error(f"required {index}", f"{value.text} is required but not allowed")
        keys = Call(
            function=Function.KEYS, arguments=(column,), type=type_text(ArrayOf(element.type))
        )
        failing: list[Condition] = [_lacks(keys, element, value) for value in required]
        if allowed:
            failing.append(_has_other(keys, element, allowed))
        return failing_rows(any_of(failing), columns.where)


def _lacks(keys: Call, element: Element, value: Value) -> Condition:
    same = Compare(op=Comparison.EQ, left=element, right=value)
    return Compare(op=Comparison.EQ, left=ElementCount(of=keys, condition=same), right=_NONE)


def _has_other(keys: Call, element: Element, allowed: tuple[Value, ...]) -> Condition:
    other = ElementCount(of=keys, condition=Not(item=InSet(of=element, values=allowed)))
    return Compare(op=Comparison.GT, left=other, right=_NONE)
