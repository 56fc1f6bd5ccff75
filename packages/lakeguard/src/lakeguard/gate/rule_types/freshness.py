"""``freshness(column, max=24h)``, ``not_older_than`` and ``not_future``"""

from __future__ import annotations

from typing import Literal

from lakeguard.gate.grammar.literals import Text, duration
from lakeguard.gate.grammar.rule import ReadRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import AgeJudged, ask
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.measures import Aggregate, AggregateFunction
from lakeguard_sdk.types.schema import TIMES


class AgeRule(RuleType):
    """The newest or oldest value that a run brings, at the time of the decision."""

    takes = "dates, timestamps"
    judges = "value"
    nulls = "NULLs are left out; with no value at all the rule fails."

    def check(self, read: ReadRule) -> None:
        for clause in ("warn_if", "fail_if"):
            if getattr(read.rule, clause) is not None:
                raise read.error(clause, "an age has no other limit; severity: WARN warns")

    def age(self, read: ReadRule, columns: Resolver, function: AggregateFunction) -> AgeJudged:
        column = columns.column()
        columns.column_of("dates or timestamps", column.type in TIMES)
        extreme = ask(Aggregate(function=function, column=column, where=columns.where))
        most = read.rule.parameter("max")
        span = duration(most.value) if isinstance(most, Text) else None
        oldest = function is AggregateFunction.MIN
        which: Literal["newest", "oldest"] = "oldest" if oldest else "newest"
        return AgeJudged(column.name, extreme, column.type, span, which)


class Freshness(AgeRule):
    name = "freshness"
    summary = (
        "The newest value that the run brings is not older than the limit when it is decided on."
        " A date counts from its first moment, and a time without a zone is UTC. A value in the"
        " future says nothing of the others, and fails."
    )
    example = "freshness(updated_at, max='24h')"
    parameters = (ParameterSpec("max", "duration", "how old it may be", required=True),)
    principal = "max"

    def compile(self, read: ReadRule, columns: Resolver) -> AgeJudged:
        return self.age(read, columns, AggregateFunction.MAX)


class NotOlderThan(AgeRule):
    name = "not_older_than"
    summary = "No value that the run brings is older than the limit when it is decided on."
    example = "not_older_than(event_at, max='30d')"
    parameters = (ParameterSpec("max", "duration", "how old it may be", required=True),)
    principal = "max"

    def compile(self, read: ReadRule, columns: Resolver) -> AgeJudged:
        return self.age(read, columns, AggregateFunction.MIN)


class NotFuture(AgeRule):
    name = "not_future"
    summary = "No value that the run brings lies in the future when it is decided on."
    example = "not_future(event_at)"

    def compile(self, read: ReadRule, columns: Resolver) -> AgeJudged:
        return self.age(read, columns, AggregateFunction.MAX)
