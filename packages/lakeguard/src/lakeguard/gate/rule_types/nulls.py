"""``not_null(column)``"""

from __future__ import annotations

from lakeguard.gate.grammar.rule import ReadRule
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard.gate.typecheck.checks import RowsJudged, ask
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Condition, IsNull, Not
from lakeguard_sdk.expressions.measures import CountIf, DuplicateRows, RowCount


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


# ``null(column)``


class MustBeNull(RuleType):
    name = "null"
    summary = "No row has a value in the column."
    example = "null(dep_time) where cancelled = true"
    nulls = "A value fails, and NULL passes. NaN and an empty text are values."
    takes = "any, also nested"
    nested = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        return failing_rows(Not(item=IsNull(of=columns.column())), columns.where)


# ``unique(column, …)``


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


# The judgement of every rule that counts rows by a condition.


def failing_rows(failing: Condition, where: Condition | None) -> RowsJudged:
    """Rows for which ``failing`` is TRUE, of those for which ``where`` is."""
    return RowsJudged(
        failed=ask(CountIf(condition=failing, where=where)), scope=ask(RowCount(where=where))
    )
