"""``freshness(column, max=24h)``, ``not_older_than`` and ``not_future``"""

from __future__ import annotations

from typing import Literal

from lakeguard.gate.grammar.literals import Text, duration
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import AgeCheck, measure_ref
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.measures import Aggregate, AggregateFunction
from lakeguard_sdk.types.schema import TIMES


class AgeRule(RuleType):
    """The newest or oldest value of the run, compared with the decision time."""

    takes = "dates, timestamps"
    limit_target = "value"
    nulls = "NULLs are ignored; with no value at all the rule fails."

    def check(self, read: ParsedRule) -> None:
        for clause in ("warn_if", "fail_if"):
            if getattr(read.rule, clause) is not None:
                raise read.error(
                    clause, ("limits are not supported here; use severity: WARN to warn")
                )

    def age(self, read: ParsedRule, columns: Resolver, function: AggregateFunction) -> AgeCheck:
        column = columns.column()
        columns.column_of("dates or timestamps", column.type in TIMES)
        extreme = measure_ref(Aggregate(function=function, column=column, where=columns.where))
        most = read.rule.parameter("max")
        span = duration(most.value) if isinstance(most, Text) else None
        oldest = function is AggregateFunction.MIN
        which: Literal["newest", "oldest"] = "oldest" if oldest else "newest"
        return AgeCheck(column.name, extreme, column.type, span, which)


class Freshness(AgeRule):
    name = "freshness"
    summary = (
        "The newest value of the run is not older than the limit at decision time. A date "
        "starts at midnight, and a time without a zone is UTC. A newest value in the future "
        "fails: freshness cannot be checked."
    )
    example = "freshness(updated_at, max='24h')"
    parameters = (ParameterSpec("max", "duration", "maximum age", required=True),)
    principal = "max"

    def compile(self, read: ParsedRule, columns: Resolver) -> AgeCheck:
        return self.age(read, columns, AggregateFunction.MAX)


class NotOlderThan(AgeRule):
    name = "not_older_than"
    summary = "No value of the run is older than the limit at decision time."
    example = "not_older_than(event_at, max='30d')"
    parameters = (ParameterSpec("max", "duration", "maximum age", required=True),)
    principal = "max"

    def compile(self, read: ParsedRule, columns: Resolver) -> AgeCheck:
        return self.age(read, columns, AggregateFunction.MIN)


class NotFuture(AgeRule):
    name = "not_future"
    summary = "No value of the run is in the future at decision time."
    example = "not_future(event_at)"

    def compile(self, read: ParsedRule, columns: Resolver) -> AgeCheck:
        return self.age(read, columns, AggregateFunction.MAX)
