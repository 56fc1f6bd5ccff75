"""Parses the arguments of a rule and checks them against its type."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from lakeguard.gate.grammar.condition_parser import (
    AggregateParser,
    ConditionParser,
    GroupParser,
    refuse_repeats,
)
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import GrammarError, Span, nearest
from lakeguard.gate.grammar.literals import Flag, Number, Text, is_duration
from lakeguard.gate.grammar.rule import (
    AggregateArgument,
    ConditionArgument,
    Listed,
    Operator,
    Parameter,
    ParameterValue,
    Percent,
    Reference,
)
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadName

_WANTED = {
    "whole": "a whole number from 0",
    "number": "a number",
    "share": "a number from 0 to 1",
    "percent": "a percentage, such as 95%",
    "bound": "a number, or a date or time in quotes",
    "text": "a text in quotes",
    "flag": "true or false",
    "duration": "a duration such as 90s, 15m, 24h, 7d or 2w",
    "step": "a whole number from 1, or a duration such as 15m, 1h or 1d",
    "list": "a list such as ['A', 'B']",
    "literal": "a value",
}


@dataclass(frozen=True)
class Arguments:
    columns: tuple[str, ...]
    parameters: tuple[Parameter, ...]


class ArgumentParser:
    """Records the span of every argument in ``spans``."""

    def __init__(
        self, cursor: Cursor, rule_type: RuleType, column: str | None, spans: dict[str, Span]
    ) -> None:
        self._cursor = cursor
        self._type = rule_type
        self._under = column
        self._spans = spans
        self._columns: list[str] = []
        self._given: dict[str, ParameterValue] = {}

    def parse(self) -> Arguments:
        if self._cursor.take_mark("("):
            if self._type.compares:
                self._comparison()
                self._rest()
            elif self._type.refers:
                self._reference()
            elif self._type.takes_condition:
                self._condition()
                self._rest()
            elif self._type.totals:
                self._totalled()
                self._rest()
            elif not self._cursor.at_mark(")"):
                self._argument()
                while self._cursor.take_mark(","):
                    self._argument()
            if not self._cursor.take_mark(")"):
                expected = "')'" if self._type.refers else "',' or ')'"
                raise self._cursor.error(f"{expected} expected")
        self._settle_columns()
        self._require_parameters()
        ordered = [spec.name for spec in self._type.parameters if spec.name in self._given]
        parameters = tuple(Parameter(name=name, value=self._given[name]) for name in ordered)
        return Arguments(tuple(self._columns), parameters)

    def _comparison(self) -> None:
        self._take_column()
        span = self._cursor.token.span
        self._store("op", Operator(op=self._cursor.expect_comparison()), span)
        self._take_column()

    def _rest(self) -> None:
        """Named parameters after the positional arguments."""
        while self._cursor.take_mark(","):
            if self._cursor.token.kind != "word" or not self._cursor.next_is("="):
                raise self._cursor.error("a parameter name expected")
            self._named()

    def _condition(self) -> None:
        """A condition, after the column it is about; the column is optional in a column's own
        rules."""
        if self._type.columns[1] and self._cursor.at_column and self._cursor.next_is(","):
            self._take_column()
            self._cursor.expect_mark(",")
        start = self._cursor.token.span
        totals = self._type.takes_group_condition
        parser = GroupParser(self._cursor) if totals else ConditionParser(self._cursor)
        tree = parser.parse()
        self._spans.update({f"condition {i}": span for i, span in enumerate(parser.places)})
        self._store("condition", ConditionArgument(tree=tree), self._cursor.since(start))

    def _totalled(self) -> None:
        start = self._cursor.token.span
        parser = AggregateParser(self._cursor)
        tree = parser.total()
        self._spans.update({f"aggregate {i}": span for i, span in enumerate(parser.places)})
        self._store("aggregate", AggregateArgument(tree=tree), self._cursor.since(start))

    def _reference(self) -> None:
        """``a, b -> silver.other(c, d)``; the column is optional in a column's own rules."""
        if self._cursor.token.kind != "reference":
            self._take_column()
            while self._cursor.take_mark(","):
                self._take_column()
        token = self._cursor.token
        if token.kind != "reference":
            raise self._cursor.error("-> and a dataset with its columns expected")
        self._cursor.advance()
        try:
            dataset = DatasetName(token.value.removeprefix("->").strip())
        except BadName as error:
            message = f"{token.value[:64]} is not a dataset: {error}"
            raise GrammarError(message, token.span, kind="syntax") from None
        names: list[str] = []
        if not (self._type.reference_columns_optional and self._cursor.at_mark(")")):
            self._cursor.expect_mark("(")
            while not names or self._cursor.take_mark(","):
                names.append(self._cursor.expect_column().value)
            self._cursor.expect_mark(")")
        self._store("to", Reference(dataset=dataset, columns=tuple(names)), token.span)

    def _argument(self) -> None:
        if self._cursor.at_literal or self._cursor.at_mark("["):
            principal = self._type.principal
            if principal is None or principal in self._given:
                names = ", ".join(f"{spec.name}=" for spec in self._type.parameters)
                raise self._cursor.error(
                    f"a value needs a parameter name ({names})"
                    if names
                    else f"{self._type.name} takes columns only"
                )
            self._value(principal)
        elif self._cursor.token.kind == "word" and self._cursor.next_is("="):
            self._named()
        else:
            if self._given:
                raise self._cursor.error("columns must come before values")
            self._take_column()

    def _named(self) -> None:
        name = self._cursor.token.value.lower()
        known = [spec.name for spec in self._type.parameters]
        if name not in known:
            takes = f"takes {' and '.join(known)}" if known else "takes no parameter"
            raise self._cursor.error(f"{self._type.name} {takes}", hint=nearest(name, known))
        if name in self._given:
            raise self._cursor.error(f"duplicate {name}")
        self._cursor.advance()
        self._cursor.advance()
        self._value(name)

    def _value(self, name: str) -> None:
        spec = self._type.spec(name)
        start = self._cursor.token
        value = self._list(name) if self._cursor.at_mark("[") else self._literal()
        if spec is None or not _fits(value, spec):
            wanted = _WANTED[spec.kind] if spec else "nothing"
            raise GrammarError(f"{name} needs {wanted}", start.span, kind="syntax")
        self._store(name, value, start.span)

    def _literal(self) -> ParameterValue:
        literal = self._cursor.expect_literal()[0]
        if isinstance(literal, Number) and self._cursor.take_mark("%"):
            return Percent(value=literal.value)
        return literal

    def _list(self, name: str) -> Listed:
        self._cursor.expect_mark("[")
        read = [self._cursor.expect_literal()]
        while self._cursor.take_mark(","):
            read.append(self._cursor.expect_literal())
        if not self._cursor.take_mark("]"):
            raise self._cursor.error("',' or ']' expected")
        items, spans = [item for item, _ in read], [span for _, span in read]
        refuse_repeats(items, spans)
        self._spans.update({f"{name} {index}": span for index, span in enumerate(spans)})
        return Listed(items=tuple(items))

    def _store(self, name: str, value: ParameterValue, span: Span) -> None:
        self._given[name] = value
        self._spans[f"parameter {name}"] = span

    def _take_column(self) -> None:
        token = self._cursor.expect_column()
        if token.value in self._columns:
            message = f"duplicate column {token.value}"
            raise GrammarError(message, token.span, kind="meaning", word=token.value)
        self._spans[f"column {len(self._columns)}"] = token.span
        self._columns.append(token.value)

    def _settle_columns(self) -> None:
        """In a column's own rules, that column is implied and may be repeated."""
        fewest, most = self._type.columns
        if self._under is not None:
            if most == 0:
                raise self._error(
                    "type",
                    f"{self._type.name} is not about a column: move it to the dataset's rules",
                )
            if not self._columns:
                self._columns.append(self._under)
            elif self._under not in self._columns:
                raise self._error(
                    "column 0",
                    (
                        f"this rule belongs to {self._under}: omit the column, or move the rule "
                        "to the dataset's rules"
                    ),
                )
        if len(self._columns) < fewest:
            raise self._error("type", f"{self._type.name} needs {_columns(fewest)}")
        if most is not None and len(self._columns) > most:
            raise self._error(f"column {most}", f"{self._type.name} takes {_columns(most)}")

    def _require_parameters(self) -> None:
        for spec in self._type.parameters:
            if spec.required and spec.name not in self._given:
                raise self._error("type", f"{self._type.name} needs {spec.name}: {spec.meaning}")

    def _error(self, part: str, message: str) -> GrammarError:
        return GrammarError(message, self._spans[part], kind="syntax")


def _fits(value: ParameterValue, spec: ParameterSpec) -> bool:
    match spec.kind:
        case "list":
            return isinstance(value, Listed)
        case "text":
            return isinstance(value, Text)
        case "bound":
            return isinstance(value, Number | Text)
        case "number":
            return isinstance(value, Number)
        case "share":
            return isinstance(value, Number) and 0 <= value.value <= 1
        case "percent":
            return isinstance(value, Percent) and value.value >= 0
        case "flag":
            return isinstance(value, Flag)
        case "duration":
            return isinstance(value, Text) and is_duration(value.value)
        case "step" if isinstance(value, Number):
            return _is_count(value.value) and value.value > 0
        case "step":
            return isinstance(value, Text) and is_duration(value.value)
        case "reference":
            return isinstance(value, Reference)
        case "whole":
            return isinstance(value, Number) and _is_count(value.value)
        case "literal":
            return isinstance(value, Number | Text | Flag)
        case "condition":
            return isinstance(value, ConditionArgument)
        case "aggregate":
            return isinstance(value, AggregateArgument)
        case "operator":
            return isinstance(value, Operator)


def _is_count(number: Decimal) -> bool:
    return number >= 0 and number == number.to_integral_value()


def _columns(count: int) -> str:
    return {0: "no column", 1: "one column", 2: "two columns"}.get(count, f"{count} columns")
