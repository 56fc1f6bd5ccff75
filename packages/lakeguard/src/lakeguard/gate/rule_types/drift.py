"""``psi(column, max=0.2)`` and ``null_drift(column, max=5%)``"""

from __future__ import annotations

from lakeguard.gate.judgement import REACH, GrowthJudged, SpreadJudged, ask
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Percent
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.expression import IsNull
from lakeguard_sdk.measure import CountIf, Distribution, RowCount
from lakeguard_sdk.words import Scope


class Stability(RuleType):
    name = "psi"
    summary = (
        "The values are spread as in the last published version: their population stability index"
        " is at most `max`. A version without values is stepped over, up to"
        f" {REACH} versions back. About 0.1 is a small change and 0.25 a large one. Numbers and"
        " times are compared in ten bins that had about as many rows each before, others by the 50"
        " most frequent values. Evidence keeps about 50 numbers or times as they are, of others"
        " digests without a salt, so do not ask this of a column that carries a tag. The first"
        " version passes. With few rows chance alone moves the index: ask it of a thousand and"
        " more."
    )
    example = "psi(dep_delay, max=0.2)"
    nulls = "NULL and NaN are no values; `null_drift` looks at NULL. Of no values it passes."
    takes = "any but binary and nested"
    parameters = (ParameterSpec("max", "number", "the greatest index that passes"),)
    judges = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        most = read.rule.parameter("max")
        if not isinstance(most, Number):
            raise read.error("type", "psi needs max")
        if most.value <= 0:
            raise read.error("parameter max", "an index of 0 or less says that nothing may change")
        _refuse_thresholds(read)

    def compile(self, read: ReadRule, columns: Resolver) -> SpreadJudged:
        column = columns.column()
        columns.column_of("a column with values to compare", column.type != "binary")
        scope = read.rule.scope or Scope.TABLE
        measure = Distribution(column=column, scope=scope, where=columns.where)
        most = read.rule.parameter("max")
        assert isinstance(most, Number)  # noqa: S101 - checked when it was read
        return SpreadJudged(column.name, ask(measure), column.type, most.value)


class NullDrift(RuleType):
    name = "null_drift"
    summary = (
        "The share of new rows without a value in the column is at most `max` points above that of"
        " the last published version. A version without rows is stepped over, up to"
        f" {REACH} versions back. The first version passes."
    )
    example = "null_drift(tail_num, max=5%)"
    nulls = "NULL is what is missing. An empty text and NaN are values. Of no rows it passes."
    takes = "any, also nested"
    nested = True
    parameters = (ParameterSpec("max", "percent", "by how many points the share may grow"),)
    judges = "value"

    def check(self, read: ReadRule) -> None:
        most = read.rule.parameter("max")
        if not isinstance(most, Percent):
            raise read.error("type", "null_drift needs max")
        if most.value >= 100:
            raise read.error("parameter max", "no share grows by more, so that it says nothing")
        _refuse_thresholds(read)

    def compile(self, read: ReadRule, columns: Resolver) -> GrowthJudged:
        column, where = columns.column(), columns.where
        most = read.rule.parameter("max")
        assert isinstance(most, Percent)  # noqa: S101 - checked when it was read
        return GrowthJudged(
            f"share of rows without {column.name}",
            ask(CountIf(condition=IsNull(of=column), where=where)),
            ask(RowCount(where=where)),
            most.value,
        )


def _refuse_thresholds(read: ReadRule) -> None:
    for clause in ("warn_if", "fail_if"):
        if getattr(read.rule, clause) is not None:
            raise read.error(clause, f"{read.rule.rule_type} is held against max=")
