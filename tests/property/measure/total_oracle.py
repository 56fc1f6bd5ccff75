"""What conditions over the aggregates of groups mean, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lakeguard_sdk.expressions.measures import GroupFaults
from tests.property.measure.sequence_oracle import groups

_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a - b * math.trunc(a / b),
}


def faults(question: GroupFaults, rows: list[Any], value_of: Callable[[Any, Any], Any]) -> int:
    """The rows of the groups for which the condition is not TRUE."""
    failing = 0
    for group in groups(rows, question.by):
        values = [value_of(term, group) for term in question.terms]
        failing += 0 if _truth(question.condition.to_data(), values) is True else len(group)
    return failing


def _truth(node: Any, values: list[Any]) -> bool | None:
    match node["node"]:
        case "missing":
            return _number(node["of"], values) is None
        case "not":
            found = _truth(node["item"], values)
            return None if found is None else not found
        case "and" | "or" as word:
            described = [_truth(item, values) for item in node["items"]]
            decisive = word == "or"
            return (
                decisive if decisive in described else None if None in described else not decisive
            )
    one, other = _number(node["left"], values), _number(node["right"], values)
    if one is None or other is None:
        return None
    return bool(_OPS[node["op"]](_order(one), _order(other)))


def _order(value: Any) -> Any:
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


def _number(node: Any, values: list[Any]) -> Any:
    match node["node"]:
        case "figure":
            return Fraction(node["text"])
        case "total":
            value = values[node["term"]]
            if value is None:
                return None
            odd = str(value) in ("NaN", "Infinity", "-Infinity")
            return float(value) if odd else Fraction(str(value))
    one, other = _number(node["left"], values), _number(node["right"], values)
    if one is None or other is None:
        return None
    if isinstance(one, float) or isinstance(other, float):
        return None
    if node["op"] in "/%" and other == 0:
        return None
    return _OPS[node["op"]](one, other)
