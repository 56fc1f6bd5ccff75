"""``not_null(column)``"""

from __future__ import annotations

from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard.gate.typecheck.checks import RowCheck, measure_ref
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Condition, IsNull, Not
from lakeguard_sdk.expressions.measures import CountIf, DuplicateRows, RowCount


class NotNull(RuleType):
    name = "not_null"
    summary = "The column is not NULL in any row."
    example = "not_null(flight_key)"
    nulls = "NULL fails. An empty text and NaN are values and pass."
    takes = "any type, including nested"
    nested = True

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        condition = IsNull(of=columns.column())
        return RowCheck(
            failed=measure_ref(CountIf(condition=condition, where=columns.where)),
            scope=measure_ref(RowCount(where=columns.where)),
        )


# ``null(column)``


class MustBeNull(RuleType):
    name = "null"
    summary = "The column is NULL in every row."
    example = "null(dep_time) where cancelled = true"
    nulls = "Any value fails, including NaN and an empty text. NULL passes."
    takes = "any type, including nested"
    nested = True

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        return failing_rows(Not(item=IsNull(of=columns.column())), columns.where)


# ``unique(column, …)``


class Unique(RuleType):
    name = "unique"
    summary = (
        "No two rows have the same key. Every row with a duplicate key counts, in the table "
        "as it will be after the publish, or with `scope batch` among the new rows only."
    )
    example = "unique(flight_key)"
    nulls = "A key with a NULL passes. NaN equals NaN."
    takes = "any type except nested"
    columns = (1, None)
    scopes = (Scope.TABLE, Scope.BATCH)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        scope = read.rule.scope or Scope.TABLE
        where = columns.where
        return RowCheck(
            failed=measure_ref(DuplicateRows(columns=columns.every, scope=scope, where=where)),
            scope=measure_ref(RowCount(scope=scope, where=where)),
        )


# The check of every rule that counts rows by a condition.


def failing_rows(failing: Condition, where: Condition | None) -> RowCheck:
    """Rows for which ``failing`` is TRUE, among those for which ``where`` is."""
    return RowCheck(
        failed=measure_ref(CountIf(condition=failing, where=where)),
        scope=measure_ref(RowCount(where=where)),
    )
