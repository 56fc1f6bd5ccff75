"""``not_null(column)``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import RuleType
from lakeguard_sdk.expression import IsNull
from lakeguard_sdk.measure import CountIf, RowCount


class NotNull(RuleType):
    name = "not_null"
    summary = "Every row has a value in the column."
    example = "not_null(flight_key)"
    nulls = "A NULL fails. An empty text and NaN are values, and pass."
    takes = "any, also nested"
    nested = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        condition = IsNull(of=columns.column())
        return RowsJudged(
            failed=ask(CountIf(condition=condition, where=columns.where)),
            scope=ask(RowCount(where=columns.where)),
        )
