"""The interface of rule types: arguments, documentation and compilation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.grammar.rule import ParsedRule, Rule
from lakeguard.gate.typecheck.checks import Check
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope

ParameterKind = Literal[
    "whole",
    "number",
    "share",
    "percent",
    "bound",
    "text",
    "flag",
    "duration",
    "step",
    "list",
    "literal",
    "condition",
    "aggregate",
    "reference",
    "operator",
]
LimitTarget = Literal["rows", "value", "share"]


@dataclass(frozen=True)
class ParameterSpec:
    """``bound`` is a number, or a quoted date or time, depending on the column type."""

    name: str
    kind: ParameterKind
    meaning: str
    required: bool = False


class RuleType(ABC):
    """One rule type. The class attributes are its documentation and its signature."""

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]
    nulls: ClassVar[str]
    takes: ClassVar[str]
    """Accepted column types, for the documentation."""
    columns: ClassVar[tuple[int, int | None]] = (1, 1)
    parameters: ClassVar[tuple[ParameterSpec, ...]] = ()
    limit_target: ClassVar[LimitTarget] = "rows"
    principal: ClassVar[str | None] = None
    """The parameter that may be given without its name."""
    nested: ClassVar[bool] = False
    """Whether it accepts nested columns."""
    compares: ClassVar[bool] = False
    """Whether the arguments are two columns with a comparison operator between them."""
    takes_condition: ClassVar[bool] = False
    """Whether a condition follows its columns."""
    takes_group_condition: ClassVar[bool] = False
    """Whether that condition is over aggregates."""
    totals: ClassVar[bool] = False
    """Whether its first argument is an aggregate."""
    refers: ClassVar[bool] = False
    """Whether its columns are followed by a reference to another dataset."""
    reference_columns_optional: ClassVar[bool] = False
    """Whether the columns may be omitted on both sides, which means all of them."""
    groups: ClassVar[bool] = False
    """Whether it supports ``by``."""
    scopes: ClassVar[tuple[Scope, ...]] = ()
    """Supported scopes, the default first; empty if it always reads the batch."""

    def check(self, read: ParsedRule) -> None:
        """Raises GrammarError for what is wrong whatever the schema is."""
        return

    @abstractmethod
    def compile(self, read: ParsedRule, columns: Resolver) -> Check:
        """Measures and their limits; GrammarError if the rule is meaningless for the schema."""

    def limit_target_of(self, rule: Rule) -> LimitTarget:
        """What limits apply to: with ``by``, the rows of failing groups."""
        return "rows" if rule.by else self.limit_target

    def spec(self, name: str) -> ParameterSpec | None:
        return next((spec for spec in self.parameters if spec.name == name), None)


class RuleTypes:
    """Registry of rule types by name; a duplicate name raises an error that names both."""

    def __init__(self, types: tuple[RuleType, ...]) -> None:
        self._types: dict[str, RuleType] = {}
        for rule_type in types:
            holder = self._types.setdefault(rule_type.name, rule_type)
            if holder is not rule_type:
                raise ValueError(
                    f"rule type {rule_type.name!r} is defined by "
                    f"{type(rule_type).__qualname__} and by {type(holder).__qualname__}"
                )

    def find(self, name: str) -> RuleType | None:
        """Case-insensitive: the seeds write NOT_NULL."""
        return self._types.get(name.lower())

    def nearest(self, name: str) -> str:
        return nearest(name, self._types)

    def __iter__(self) -> Iterator[RuleType]:
        return iter(self._types[name] for name in sorted(self._types))
