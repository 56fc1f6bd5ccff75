"""A rule as written, in normal form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from lakeguard.gate.grammar.grammar_error import ErrorKind, GrammarError, Span
from lakeguard.gate.grammar.literals import (
    AnyLiteral,
    Literal_,
    literal_text,
    number_text,
)
from lakeguard.gate.grammar.syntax_tree import Where, Written, columns_in
from lakeguard.gate.grammar.unparse import column_text, where_text, written_text
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.conditions import Comparison


class Listed(FrozenModel):
    """Literals in brackets, in source order."""

    literal: Literal["list"] = "list"
    items: tuple[AnyLiteral, ...]


class Percent(FrozenModel):
    """A share, as in ``min=95%``."""

    literal: Literal["percent"] = "percent"
    value: Decimal


class Reference(FrozenModel):
    """Columns of another dataset, as in ``-> silver.carriers(code)``; all if none is named."""

    literal: Literal["reference"] = "reference"
    dataset: DatasetName
    columns: tuple[str, ...]


class ConditionArgument(FrozenModel):
    """A condition as an argument, as in ``sql_row(a < b)``."""

    literal: Literal["condition"] = "condition"
    tree: Where


class AggregateArgument(FrozenModel):
    """An aggregate as an argument, as in ``sql_agg(sum(a) / count(*))``."""

    literal: Literal["aggregate"] = "aggregate"
    tree: Written


class Operator(FrozenModel):
    """The operator of ``compare(a <= b)``."""

    literal: Literal["operator"] = "operator"
    op: Comparison


ParameterValue = (
    Literal_ | Listed | Percent | Reference | ConditionArgument | AggregateArgument | Operator
)
AnyParameterValue = Annotated[ParameterValue, Field(discriminator="literal")]


class Parameter(FrozenModel):
    name: str
    value: AnyParameterValue


class Threshold(FrozenModel):
    """A limit on failing rows, on their percentage, or on the value."""

    op: Comparison
    number: Decimal
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.op} {number_text(self.number)}{'%' if self.percent else ''}"


class Rule(FrozenModel):
    """``scope`` is None for the type's default. Equal rules mean the same."""

    rule_type: str
    columns: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    by: tuple[str, ...] = ()
    """The rule is evaluated separately for each group of rows equal in these columns."""
    where: Where | None = None
    warn_if: Threshold | None = None
    fail_if: Threshold | None = None
    on_fail: Literal["block", "quarantine"] = "block"
    scope: Scope | None = None

    @property
    def condition_columns(self) -> tuple[str, ...]:
        """Columns named in its condition or aggregate, without duplicates."""
        given = self.parameter("condition") or self.parameter("aggregate")
        found = (
            columns_in(given.tree)
            if isinstance(given, ConditionArgument | AggregateArgument)
            else ()
        )
        return tuple(dict.fromkeys(found))

    def parameter(self, name: str) -> ParameterValue | None:
        return next((item.value for item in self.parameters if item.name == name), None)


def rule_text(rule: Rule) -> str:
    """Canonical text: fixed order of clauses, one spelling of everything."""
    clauses = (f" {word} {text}" for word, text in _clauses(rule).items())
    return f"{rule.rule_type}({_arguments(rule)}){''.join(clauses)}"


def given_texts(rule: Rule) -> dict[str, str]:
    """Arguments and clauses, besides the columns, by name."""
    arguments = {item.name: value_text(item.value) for item in rule.parameters}
    return {**arguments, **_clauses(rule)}


def _clauses(rule: Rule) -> dict[str, str]:
    """Clauses after the arguments, in order."""
    clauses = {
        "by": ", ".join(map(column_text, rule.by)),
        "where": "" if rule.where is None else where_text(rule.where),
        "warn_if": "" if rule.warn_if is None else str(rule.warn_if),
        "fail_if": "" if rule.fail_if is None else str(rule.fail_if),
        "on_fail": "" if rule.on_fail == "block" else rule.on_fail,
        "scope": "" if rule.scope is None else rule.scope.value,
    }
    return {word: text for word, text in clauses.items() if text}


def _arguments(rule: Rule) -> str:
    columns = [column_text(name) for name in rule.columns]
    named = []
    for parameter in rule.parameters:
        match parameter.value:
            case Operator(op=op):
                columns = [f" {op} ".join(columns)]
            case ConditionArgument() | AggregateArgument() as argument:
                columns.append(value_text(argument))
            case Reference() as reference:
                return f"{', '.join(columns)} -> {value_text(reference)}".strip()
            case value:
                named.append(f"{parameter.name}={value_text(value)}")
    return ", ".join([*columns, *named])


def value_text(value: ParameterValue) -> str:
    """Canonical text of an argument."""
    match value:
        case Operator(op=op):
            return op.value
        case ConditionArgument(tree=tree):
            return where_text(tree)
        case AggregateArgument(tree=total):
            return written_text(total)
        case Reference(dataset=dataset, columns=keys):
            listed = ", ".join(map(column_text, keys))
            return f"{dataset}({listed})" if keys else str(dataset)
        case Percent(value=share):
            return f"{number_text(share)}%"
        case Listed(items=items):
            return "[" + ", ".join(literal_text(item) for item in items) + "]"
        case literal:
            return literal_text(literal)


# A rule with its source spans, so that errors can point at their cause.


@dataclass(frozen=True)
class ParsedRule:
    """``spans`` by part: ``type``, ``column 0``, ``parameter min``, ``values 2`` (the third of that
    list), ``where 3`` (the fourth operand of the condition), ``warn_if``, ``scope``."""

    rule: Rule
    text: str
    spans: Mapping[str, Span]
    fresh: bool = False
    """Whether the rule is being authored: constant conditions are refused then. A stored rule keeps
    its meaning."""

    def error(
        self, part: str, message: str, *, kind: ErrorKind = "meaning", hint: str = ""
    ) -> GrammarError:
        """An error at one part, or at the whole rule if the part is not in the text."""
        span = self.spans.get(part) or self.spans["type"]
        word = self.text[span.offset : span.offset + span.length].strip("`'")
        return GrammarError(message, span, kind=kind, hint=hint, word=word)
