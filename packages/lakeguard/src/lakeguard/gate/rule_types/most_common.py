"""``most_common(column, value=, min=, max=)``"""

from __future__ import annotations

from lakeguard.gate.judgement import CommonJudged, ShareJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.shares import rows_with
from lakeguard.gate.rule_types.value_limits import (
    PERCENTS,
    check_limits,
    has_past,
    past_of,
    percent_bounds,
    refuse_idle_share,
)
from lakeguard.gate.typed_values import Rounding
from lakeguard_sdk.expression import And, Compare, Comparison, Condition
from lakeguard_sdk.measure import MostCommonRows, RowCount
from lakeguard_sdk.words import Scope


class MostCommon(RuleType):
    name = "most_common"
    summary = (
        "The share of rows that have the most frequent value, among the rows that have one, lies"
        " between the bounds; with `value` the most frequent value is that one, alone or together"
        " with others. In the table as the publish would leave it, or with `scope batch` among the"
        " new rows alone."
    )
    example = "most_common(status, value='OPEN', max=80%)"
    nulls = "NULL is no value. NaN equals NaN. Of no rows it passes."
    takes = "any but nested; with `value` not binary either"
    parameters = (ParameterSpec("value", "literal", "the most frequent value"), *PERCENTS)
    judges = "share"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        if read.rule.parameter("value") is None or _limited(read):
            check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> ShareJudged | CommonJudged:
        column, scope = columns.column(), read.rule.scope or Scope.TABLE
        share = ShareJudged(
            f"share of the most common {column.name}",
            ask(MostCommonRows(columns=(column,), scope=scope, where=columns.where)),
            ask(RowCount(scope=scope, where=rows_with((column,), columns.where))),
            percent_bounds(read.rule),
            past=past_of(read.rule),
        )
        if read.rule.parameter("value") is None:
            refuse_idle_share(read)
            return share
        value = columns.value("value", column, Rounding.NONE)
        same: Condition = Compare(op=Comparison.EQ, left=column, right=value)
        if columns.where is not None:
            same = And(items=(same, columns.where))
        return CommonJudged(share, ask(RowCount(scope=scope, where=same)), value.text)


def _limited(read: ReadRule) -> bool:
    rule = read.rule
    bounds = any(rule.parameter(name) is not None for name in ("min", "max"))
    return bounds or has_past(rule) or rule.warn_if is not None or rule.fail_if is not None
