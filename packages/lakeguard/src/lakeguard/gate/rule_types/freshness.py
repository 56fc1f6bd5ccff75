"""``freshness(column, max=24h)``"""

from __future__ import annotations

from lakeguard.gate.durations import duration
from lakeguard.gate.judgement import AgeJudged, ask
from lakeguard.gate.literals import Text
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_range import TIMES
from lakeguard_sdk.measure import Aggregate, AggregateFunction


class Freshness(RuleType):
    name = "freshness"
    summary = (
        "The newest value that the run brings is not older than the limit when it is decided on."
        " A date counts from its first moment, and a time without a zone is UTC. What lies in the"
        " future is fresh."
    )
    example = "freshness(updated_at, max='24h')"
    nulls = "NULLs are left out; with no value at all the rule fails."
    takes = "dates, timestamps"
    parameters = (ParameterSpec("max", "duration", "how old it may be", required=True),)
    principal = "max"
    judges = "value"

    def check(self, read: ReadRule) -> None:
        for clause in ("warn_if", "fail_if"):
            if getattr(read.rule, clause) is not None:
                raise read.error(clause, "an age is held against max=; severity: WARN warns")

    def compile(self, read: ReadRule, columns: Resolver) -> AgeJudged:
        column = columns.column()
        columns.column_of("dates or timestamps", column.type in TIMES)
        newest = Aggregate(function=AggregateFunction.MAX, column=column, where=columns.where)
        most = read.rule.parameter("max")
        span = duration(most.value if isinstance(most, Text) else "")
        return AgeJudged(column.name, ask(newest), column.type, span)
