"""A rule as it is written: one noun, whatever way it was spelled."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from lakeguard.gate.literals import AnyLiteral, Literal_, literal_text, number_text
from lakeguard.gate.where_tree import Where, column_text, where_text
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.words import Scope


class Listed(Noun):
    """Literals in brackets, in the order they were written."""

    literal: Literal["list"] = "list"
    items: tuple[AnyLiteral, ...]


class Operator(Noun):
    """The comparison of ``compare(a <= b)``."""

    literal: Literal["operator"] = "operator"
    op: Comparison


ParameterValue = Literal_ | Listed | Operator
AnyParameterValue = Annotated[ParameterValue, Field(discriminator="literal")]


class Parameter(Noun):
    name: str
    value: AnyParameterValue


class Threshold(Noun):
    """When a rule warns or fails: of failing rows (or per cent of them), or of the value."""

    op: Comparison
    number: Decimal
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.op} {number_text(self.number)}{'%' if self.percent else ''}"


class Rule(Noun):
    """``scope`` is None where the type's own scope holds. Equal rules mean the same."""

    rule_type: str
    columns: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    where: Where | None = None
    warn_if: Threshold | None = None
    fail_if: Threshold | None = None
    on_fail: Literal["block"] = "block"
    scope: Scope | None = None

    def parameter(self, name: str) -> ParameterValue | None:
        return next((item.value for item in self.parameters if item.name == name), None)


def rule_text(rule: Rule) -> str:
    """The canonical text: one order of clauses, one spelling of everything."""
    parts = [f"{rule.rule_type}({_arguments(rule)})"]
    if rule.where is not None:
        parts.append(f"where {where_text(rule.where)}")
    if rule.warn_if is not None:
        parts.append(f"warn_if {rule.warn_if}")
    if rule.fail_if is not None:
        parts.append(f"fail_if {rule.fail_if}")
    if rule.scope is not None:
        parts.append(f"scope {rule.scope}")
    return " ".join(parts)


def _arguments(rule: Rule) -> str:
    columns = [column_text(name) for name in rule.columns]
    named = []
    for parameter in rule.parameters:
        match parameter.value:
            case Operator(op=op):
                return f" {op} ".join(columns)
            case Listed(items=items):
                text = "[" + ", ".join(literal_text(item) for item in items) + "]"
            case literal:
                text = literal_text(literal)
        named.append(f"{parameter.name}={text}")
    return ", ".join([*columns, *named])
