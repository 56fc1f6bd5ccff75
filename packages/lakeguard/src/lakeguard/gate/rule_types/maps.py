"""``map_keys(column, allowed=[…], required=[…])``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.rule_types.value_range import any_of
from lakeguard_sdk.expression import (
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
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, MapOf, type_text

_NONE = Value(type="integer", text="0")


class MapKeys(RuleType):
    name = "map_keys"
    summary = "Every map has no keys but those allowed, and has all of those that are required."
    example = "map_keys(labels, allowed=['team', 'cost', 'env'], required=['team'])"
    nulls = "NULL passes. A key whose value is NULL is a key."
    takes = "maps whose keys are not nested, nor binary"
    nested = True
    parameters = (
        ParameterSpec("allowed", "list", "the keys that may be there"),
        ParameterSpec("required", "list", "the keys that must be there"),
    )

    def check(self, read: ReadRule) -> None:
        if read.rule.parameter("allowed") is None and read.rule.parameter("required") is None:
            raise read.error("type", "map_keys needs allowed, required or both")

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
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
                raise read.error(f"required {index}", f"{value.text} is required, but not allowed")
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
