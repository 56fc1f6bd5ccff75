"""What a rule type is: what it takes, what it means, what it asks of the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.grammar.rule import ReadRule, Rule
from lakeguard.gate.typecheck.checks import Judgement
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
Judges = Literal["rows", "value", "share"]


@dataclass(frozen=True)
class ParameterSpec:
    """``bound`` is a number, or a date or time in quotes, as the column's type has it."""

    name: str
    kind: ParameterKind
    meaning: str
    required: bool = False


class RuleType(ABC):
    """One rule type. The class attributes are its documentation and its argument list."""

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]
    nulls: ClassVar[str]
    takes: ClassVar[str]
    """The column types it accepts, in words."""
    columns: ClassVar[tuple[int, int | None]] = (1, 1)
    parameters: ClassVar[tuple[ParameterSpec, ...]] = ()
    judges: ClassVar[Judges] = "rows"
    principal: ClassVar[str | None] = None
    """The parameter that may be given without its name."""
    nested: ClassVar[bool] = False
    """Whether it can be asked of a column with values in its values."""
    compares: ClassVar[bool] = False
    """Whether the arguments are two columns with a comparison between them."""
    says: ClassVar[bool] = False
    """Whether a condition follows its columns."""
    says_totals: ClassVar[bool] = False
    """Whether that condition is one over aggregates."""
    totals: ClassVar[bool] = False
    """Whether it begins with a value of all rows."""
    refers: ClassVar[bool] = False
    """Whether its columns are followed by those of another dataset."""
    refers_whole: ClassVar[bool] = False
    """Whether neither side need name its columns, and all are meant."""
    groups: ClassVar[bool] = False
    """Whether it can be asked of each group of rows by itself."""
    scopes: ClassVar[tuple[Scope, ...]] = ()
    """The scopes it can be given, its own first; none where it always looks at the batch."""

    def check(self, read: ReadRule) -> None:
        """Refuses, with a GrammarError, what no schema could give a meaning."""
        return

    @abstractmethod
    def compile(self, read: ReadRule, columns: Resolver) -> Judgement:
        """The measures to take and what they are held against; GrammarError if senseless."""

    def judges_of(self, rule: Rule) -> Judges:
        """What limits are about: with ``by``, the rows of the groups that fail."""
        return "rows" if rule.by else self.judges

    def spec(self, name: str) -> ParameterSpec | None:
        return next((spec for spec in self.parameters if spec.name == name), None)


class RuleTypes:
    """The known rule types. A second claim to a name is refused, naming both."""

    def __init__(self, types: tuple[RuleType, ...]) -> None:
        self._types: dict[str, RuleType] = {}
        for rule_type in types:
            holder = self._types.setdefault(rule_type.name, rule_type)
            if holder is not rule_type:
                raise ValueError(
                    f"rule type {rule_type.name!r} is claimed by {type(rule_type).__qualname__}"
                    f" and by {type(holder).__qualname__}"
                )

    def find(self, name: str) -> RuleType | None:
        """By name, in any case: the seeds write NOT_NULL."""
        return self._types.get(name.lower())

    def nearest(self, name: str) -> str:
        return nearest(name, self._types)

    def __iter__(self) -> Iterator[RuleType]:
        return iter(self._types[name] for name in sorted(self._types))
