"""The grammar of rules: text in, a rule out, and the other way round.

    rule      = type [ "(" [ arguments ] ")" ] { clause }
    arguments = argument { "," argument }  |  column comparison column { "," name "=" value }
              | columns "->" dataset "(" columns ")"
              | [ column "," ] condition { "," name "=" value }
              | total { "," name "=" value }
    argument  = column  |  name "=" value [ "%" ]  |  value
    columns   = column { "," column }
    clause    = "by" columns  |  "where" condition  |  "warn_if" limit  |  "fail_if" limit
              | "on_fail" ( "block" | "quarantine" )  |  "scope" ( "table" | "batch" )
    limit     = comparison number [ "%" ]
    value     = number | 'text' | date | duration | true | false | "[" value { "," value } "]"
    condition = conjunction { "or" conjunction }
    conjunction = test { "and" test }
    test      = "not" test | "(" condition ")" | scalar "is" [ "not" ] "null"
              | scalar comparison scalar
              | scalar [ "not" ] "in" "(" value { "," value } ")"
              | scalar [ "not" ] "between" scalar "and" scalar
              | scalar [ "not" ] "like" 'text'
              | function "(" scalar { "," scalar } ")"
    scalar    = product { ( "+" | "-" ) product }
    product   = factor { ( "*" | "/" | "%" ) factor }
    factor    = column { "." field } | value | "(" scalar ")"
              | function "(" scalar { "," scalar } ")"
              | "if" "(" condition "," scalar "," scalar ")"
    total     = scalar whose columns stand in aggregates:
                ( "sum" | "min" | "max" | "avg" | "count" ) "(" [ "distinct" ] scalar ")"
              | "count" "(" "*" ")"

Clauses stand in any order, each at most once. Words are read in any case. A column whose name
is not a plain word stands in backticks. The grammar is final: rules are hashed by their text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lakeguard.gate.grammar.condition_parser import ConditionParser
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import GrammarError, Span, nearest
from lakeguard.gate.grammar.rule import ParsedRule, Rule, Threshold, rule_text
from lakeguard.gate.grammar.tokens import LONGEST_TEXT
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard.gate.rules.arguments import ArgumentParser, Arguments
from lakeguard.gate.rules.thresholds import check_thresholds
from lakeguard_sdk.core.enums import Scope

# Parses a rule: type, arguments, clauses.

CLAUSES = ("by", "where", "warn_if", "fail_if", "on_fail", "scope")


class RuleParser:
    """Parses one text; use once."""

    def __init__(self, text: str, column: str | None) -> None:
        self._text = text
        self._cursor = Cursor(text)
        self._column = column
        self._spans: dict[str, Span] = {}

    def parse(self) -> ParsedRule:
        rule_type = self._type()
        arguments = ArgumentParser(self._cursor, rule_type, self._column, self._spans).parse()
        clauses = self._clauses(rule_type)
        rule = self._rule(rule_type, arguments, clauses)
        read = ParsedRule(rule=rule, text=self._text, spans=self._spans)
        check_thresholds(rule_type, read)
        rule_type.check(read)
        return read

    def _type(self) -> RuleType:
        token = self._cursor.token
        if token.kind != "word":
            raise self._cursor.error("a rule type expected")
        found = RULE_TYPES.find(token.value)
        if found is None:
            raise GrammarError(
                f"unknown rule type {token.value[:64]!r}",
                token.span,
                kind="rule_type",
                hint=RULE_TYPES.nearest(token.value),
                word=token.value,
            )
        self._spans["type"] = token.span
        self._cursor.advance()
        return found

    def _clauses(self, rule_type: RuleType) -> dict[str, Any]:
        clauses: dict[str, Any] = {}
        while self._cursor.token.kind != "end":
            token = self._cursor.token
            word = token.value.lower() if token.kind == "word" else ""
            if word not in CLAUSES:
                hint = nearest(token.value, CLAUSES) if token.kind == "word" else ""
                raise self._cursor.error(f"one of {', '.join(CLAUSES)} expected", hint=hint)
            if word in clauses:
                raise self._cursor.error(f"duplicate {word}")
            self._cursor.advance()
            clauses[word] = self._clause(word, token.span, rule_type)
        return clauses

    def _clause(self, word: str, start: Span, rule_type: RuleType) -> Any:
        if word == "where":
            parser = ConditionParser(self._cursor)
            tree = parser.parse()
            self._spans.update({f"where {i}": span for i, span in enumerate(parser.places)})
            return tree
        if word == "on_fail":
            return self._on_fail(start, rule_type)
        if word == "by":
            return self._by(start, rule_type)
        if word == "scope":
            return self._scope(start, rule_type)
        op = self._cursor.expect_comparison()
        number = self._cursor.expect_number()
        percent = self._cursor.take_mark("%") is not None
        self._spans[word] = self._cursor.since(start)
        return Threshold(op=op, number=number, percent=percent)

    def _on_fail(self, start: Span, rule_type: RuleType) -> str:
        token = self._cursor.expect_word("block", "quarantine")
        word = token.value.lower()
        self._spans["on_fail"] = self._cursor.since(start)
        if word == "quarantine" and rule_type.limit_target != "rows":
            message = f"{rule_type.name} has no rows to quarantine: the rule blocks"
            raise GrammarError(message, token.span, kind="meaning", word=token.value)
        return word

    def _by(self, start: Span, rule_type: RuleType) -> tuple[str, ...]:
        names: list[str] = []
        while not names or self._cursor.take_mark(","):
            token = self._cursor.expect_column()
            if token.value in names:
                message = f"duplicate column {token.value}"
                raise GrammarError(message, token.span, kind="meaning", word=token.value)
            self._spans[f"by {len(names)}"] = token.span
            names.append(token.value)
        if not rule_type.groups:
            span = self._cursor.since(start)
            message = f"{rule_type.name} does not support by"
            raise GrammarError(message, span, kind="meaning", word="by")
        return tuple(names)

    def _scope(self, start: Span, rule_type: RuleType) -> Scope:
        token = self._cursor.expect_word(*Scope)
        span = self._spans["scope"] = self._cursor.since(start)
        if not rule_type.scopes:
            raise GrammarError(
                f"{rule_type.name} always reads the batch; scope is supported by {_scoped()}",
                span,
                kind="meaning",
                word=token.value,
            )
        return Scope(token.value.lower())

    def _rule(self, rule_type: RuleType, arguments: Arguments, clauses: dict[str, Any]) -> Rule:
        scope = clauses.get("scope")
        own = rule_type.scopes[0] if rule_type.scopes else None
        return Rule(
            rule_type=rule_type.name,
            columns=arguments.columns,
            parameters=arguments.parameters,
            by=clauses.get("by", ()),
            where=clauses.get("where"),
            warn_if=clauses.get("warn_if"),
            fail_if=clauses.get("fail_if"),
            on_fail=clauses.get("on_fail", "block"),
            scope=None if scope is own else scope,
        )


def _scoped() -> str:
    return ", ".join(found.name for found in RULE_TYPES if found.scopes)


__all__ = ["GrammarError", "parse_rule", "read_rule", "rule_text"]


def parse_rule(text: str, *, column: str | None = None) -> Rule:
    """Parse a rule; GrammarError, with the span, if the text is invalid.

    ``column`` is the column whose rules contain it; the rule then omits it.
    """
    return read_rule(text, column=column).rule


@lru_cache(maxsize=4096)
def read_rule(text: str, *, column: str | None = None) -> ParsedRule:
    """Parse a rule with the spans of its parts; its canonical text always parses."""
    read = RuleParser(text, column).parse()
    canonical = len(rule_text(read.rule))
    if canonical > LONGEST_TEXT:
        raise GrammarError(
            f"too long: {canonical:,} characters in canonical form, at most {LONGEST_TEXT:,}",
            Span(0, max(1, len(text))),
            kind="syntax",
        )
    return read
