"""``psi(column, max=0.2)`` and ``null_drift(column, max=5%)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grammar.literals import Number, number_text
from lakeguard.gate.grammar.rule import ParsedRule, Percent
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import NUMBERS, by_groups, check_limits, past_of
from lakeguard.gate.typecheck.checks import (
    LOOKBACK,
    Bounds,
    DistributionCheck,
    GroupCheck,
    SetDriftCheck,
    ShareGrowthCheck,
    ValueCheck,
    measure_ref,
)
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import IsNull
from lakeguard_sdk.expressions.measures import (
    CountIf,
    DistinctValues,
    Distribution,
    Quantile,
    RowCount,
)
from lakeguard_sdk.types.schema import is_numeric


class Stability(RuleType):
    name = "psi"
    summary = (
        "The distribution of values is similar to that of the last published version: their "
        "population stability index (PSI) is at most `max`. Versions without values are "
        f"skipped, up to {LOOKBACK} versions back. About 0.1 is a small change and 0.25 a large "
        "one. Numbers and times are compared in ten bins that had about equally many rows "
        "before, other types by the 50 most frequent values. Evidence records about 50 "
        "numbers or times in plain text, and unsalted digests of other values, so do not use "
        "this rule on a tagged column. The first version passes. With few rows the index "
        "moves by chance: use it on a thousand rows or more."
    )
    example = "psi(dep_delay, max=0.2)"
    nulls = "NULL and NaN are not counted; see `null_drift` for NULL. Without values it passes."
    takes = "any type except binary and nested"
    parameters = (ParameterSpec("max", "number", "maximum index"),)
    limit_target = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        most = read.rule.parameter("max")
        if not isinstance(most, Number):
            raise read.error("type", "psi needs max")
        if most.value <= 0:
            raise read.error(
                "parameter max",
                ("the index must be greater than 0: nothing could change otherwise"),
            )
        _refuse_thresholds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> DistributionCheck:
        column = columns.column()
        columns.column_of("a column with values to compare", column.type != "binary")
        scope = read.rule.scope or Scope.TABLE
        measure = Distribution(column=column, scope=scope, where=columns.where)
        most = read.rule.parameter("max")
        assert isinstance(most, Number)  # noqa: S101 - checked when it was read
        return DistributionCheck(column.name, measure_ref(measure), column.type, most.value)


class NullDrift(RuleType):
    name = "null_drift"
    summary = (
        "The share of new rows without a value in the column is at most `max` percentage "
        "points above that of the last published version. Versions without rows are skipped, "
        f"up to {LOOKBACK} versions back. The first version passes."
    )
    example = "null_drift(tail_num, max=5%)"
    nulls = "NULL counts as missing. An empty text and NaN are values. Without rows it passes."
    takes = "any type, including nested"
    nested = True
    parameters = (ParameterSpec("max", "percent", "how many percentage points the share may grow"),)
    limit_target = "value"

    def check(self, read: ParsedRule) -> None:
        most = read.rule.parameter("max")
        if not isinstance(most, Percent):
            raise read.error("type", "null_drift needs max")
        if most.value >= 100:
            raise read.error("parameter max", "this always holds: no share can grow by more")
        _refuse_thresholds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ShareGrowthCheck:
        column, where = columns.column(), columns.where
        most = read.rule.parameter("max")
        assert isinstance(most, Percent)  # noqa: S101 - checked when it was read
        return ShareGrowthCheck(
            f"share of rows without {column.name}",
            measure_ref(CountIf(condition=IsNull(of=column), where=where)),
            measure_ref(RowCount(where=where)),
            most.value,
        )


def _refuse_thresholds(read: ParsedRule) -> None:
    for clause in ("warn_if", "fail_if"):
        if getattr(read.rule, clause) is not None:
            raise read.error(clause, f"{read.rule.rule_type} needs max=")


# ``set_drift(column, new=0, gone=0)``

_MOST = 1000


class SetDrift(RuleType):
    name = "set_drift"
    summary = (
        "Compared with the last published version, the column has at most that many new "
        "values and lost at most that many. Values are compared by digests; the digests are "
        "recorded without a salt, so that a value can be guessed: do not use this rule on a "
        "tagged column. The first version passes; with more distinct values than `most` the "
        "rule cannot be evaluated and blocks."
    )
    example = "set_drift(carrier, new=2, gone=0)"
    nulls = "NULL is ignored. NaN equals NaN."
    takes = "any type except binary and nested"
    parameters = (
        ParameterSpec("new", "whole", "how many values may be new"),
        ParameterSpec("gone", "whole", "how many values may be gone"),
        ParameterSpec("most", "whole", f"maximum number of distinct values; {_MOST} by default"),
    )
    limit_target = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        rule = read.rule
        if rule.parameter("new") is None and rule.parameter("gone") is None:
            raise read.error("type", "set_drift needs new, gone or both")
        for clause in ("warn_if", "fail_if"):
            if getattr(rule, clause) is not None:
                raise read.error(clause, "set_drift needs new= or gone=")
        if not 1 <= (_whole(read, "most") or 1) <= _MOST:
            raise read.error("parameter most", f"at most {_MOST:,} values can be compared")

    def compile(self, read: ParsedRule, columns: Resolver) -> SetDriftCheck:
        column = columns.column()
        columns.column_of("a column with values to list", column.type != "binary")
        measure = DistinctValues(
            column=column,
            most=_whole(read, "most") or _MOST,
            scope=read.rule.scope or Scope.TABLE,
            where=columns.where,
        )
        return SetDriftCheck(
            column.name, measure_ref(measure), _whole(read, "new"), _whole(read, "gone")
        )


def _whole(read: ParsedRule, name: str) -> int | None:
    number = read.rule.parameter(name)
    return int(number.value) if isinstance(number, Number) else None


# ``quantile(column, q=0.95)``


class QuantileValue(RuleType):
    name = "quantile"
    summary = (
        "The `q` quantile of the values is within the bounds. It is interpolated linearly; "
        "numbers are converted to doubles."
    )
    example = "quantile(dep_delay, q=0.95, max=120)"
    nulls = (
        "NULLs are ignored; with no value at all the rule fails. NaN and infinities make the "
        "value NaN, which fails."
    )
    takes = "numbers"
    parameters = (
        ParameterSpec("q", "share", "the quantile; 0.5 is the median", required=True),
        *NUMBERS,
    )
    limit_target = "value"
    groups = True

    def check(self, read: ParsedRule) -> None:
        check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ValueCheck | GroupCheck:
        column = columns.column()
        columns.column_of("numbers", is_numeric(column.type))
        q = _number(read, "q") or Decimal(0)
        bounds = Bounds("double", _number(read, "min"), _number(read, "max"), summed=True)
        measure = Quantile(q=format(q.normalize(), "f"), column=column, where=columns.where)
        subject = f"{number_text(q)} quantile of {column.name}"
        if read.rule.by:
            return by_groups(subject, measure, bounds, columns)
        return ValueCheck(subject, measure_ref(measure), bounds, past_of(read.rule))


def _number(read: ParsedRule, name: str) -> Decimal | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None
