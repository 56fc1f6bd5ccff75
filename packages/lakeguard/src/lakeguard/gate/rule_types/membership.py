"""``in_set(column, values=[…])`` and ``regex(column, pattern='…')``"""

from __future__ import annotations

from lakeguard.gate.grammar.literals import Text
from lakeguard.gate.grammar.pattern import check_pattern
from lakeguard.gate.grammar.pattern_shape import PatternError
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.conditions import (
    Condition,
    InSet,
    Matches,
    Not,
)


class MemberOfSet(RuleType):
    name = "in_set"
    summary = "Every value is in the list."
    example = "in_set(origin, values=['EWR', 'JFK', 'LGA'])"
    nulls = "NULL passes and cannot be listed. NaN fails."
    takes = "any type except binary and nested"
    parameters = (ParameterSpec("values", "list", "allowed values", required=True),)
    principal = "values"

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a column with values to list", column.type != "binary")
        inside = InSet(of=column, values=columns.values("values", column))
        return failing_rows(self.failing(inside), columns.where)

    def failing(self, inside: Condition) -> Condition:
        return Not(item=inside)


class FullMatch(RuleType):
    name = "regex"
    summary = "Every text matches the pattern in full; see Patterns for the portable subset."
    example = "regex(tail_num, pattern='N[0-9]{1,5}[A-Z]{0,2}')"
    nulls = "NULL passes. An empty text is matched like any other."
    takes = "strings"
    parameters = (ParameterSpec("pattern", "text", "the pattern", required=True),)
    principal = "pattern"

    def check(self, read: ParsedRule) -> None:
        try:
            check_pattern(_pattern(read))
        except PatternError as reason:
            raise read.error("parameter pattern", str(reason)) from None

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        matching = Matches(of=column, pattern=_pattern(read))
        return failing_rows(self.failing(matching), columns.where)

    def failing(self, matching: Condition) -> Condition:
        return Not(item=matching)


class NotMemberOfSet(MemberOfSet):
    name = "not_in_set"
    summary = "No value is in the list."
    example = "not_in_set(origin, values=['XXX', '???'])"
    nulls = "NULL passes and cannot be listed. NaN passes."
    parameters = (ParameterSpec("values", "list", "forbidden values", required=True),)

    def failing(self, inside: Condition) -> Condition:
        return inside


class NoMatch(FullMatch):
    name = "not_regex"
    summary = "No text matches the pattern in full; see Patterns for the portable subset."
    example = "not_regex(tail_num, pattern='N0[0-9]*')"
    parameters = (ParameterSpec("pattern", "text", "the forbidden pattern", required=True),)

    def failing(self, matching: Condition) -> Condition:
        return matching


def _pattern(read: ParsedRule) -> str:
    pattern = read.rule.parameter("pattern")
    return pattern.value if isinstance(pattern, Text) else ""
