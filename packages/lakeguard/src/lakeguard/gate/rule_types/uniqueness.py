"""``unique(column, …)``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import RuleType
from lakeguard_sdk.measure import DuplicateRows, RowCount
from lakeguard_sdk.words import Scope


class Unique(RuleType):
    name = "unique"
    summary = (
        "No two rows have the same key. Every row of a group of equal keys counts, in the table"
        " as the publish would leave it, or with `scope batch` among the new rows alone."
    )
    example = "unique(flight_key)"
    nulls = "A key with a NULL in it passes. NaN equals NaN."
    takes = "any but nested"
    columns = (1, None)
    scopes = (Scope.TABLE, Scope.BATCH)

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        scope = read.rule.scope or Scope.TABLE
        where = columns.where
        return RowsJudged(
            failed=ask(DuplicateRows(columns=columns.every, scope=scope, where=where)),
            scope=ask(RowCount(scope=scope, where=where)),
        )
