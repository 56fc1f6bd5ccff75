"""``completeness(column)``, ``distinct(column, …)``, ``distinct_ratio`` and ``unique_ratio``"""

from __future__ import annotations

from lakeguard.gate.judgement import Bounds, ShareJudged, ValueJudged, ask
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import (
    PAST,
    PERCENTS,
    check_limits,
    has_past,
    past_of,
    percent_bounds,
    refuse_idle_share,
)
from lakeguard_sdk.expression import And, ColumnRef, Condition, IsNull, Not
from lakeguard_sdk.measure import CountIf, DistinctCount, DuplicateRows, RowCount
from lakeguard_sdk.words import Scope


class Completeness(RuleType):
    name = "completeness"
    summary = "The share of rows that have a value in the column lies between the bounds."
    example = "completeness(tail_num, min=95%)"
    nulls = "NULL is what is missing. An empty text and NaN are values. Of no rows it passes."
    takes = "any, also nested"
    nested = True
    parameters = PERCENTS
    judges = "share"

    def check(self, read: ReadRule) -> None:
        check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> ShareJudged:
        refuse_idle_share(read)
        column, where = columns.column(), columns.where
        return ShareJudged(
            f"completeness of {column.name}",
            ask(CountIf(condition=IsNull(of=column), where=where)),
            ask(RowCount(where=where)),
            percent_bounds(read.rule),
            rest=True,
            past=past_of(read.rule),
        )


class Distinct(RuleType):
    name = "distinct"
    summary = (
        "The number of different keys lies between the bounds, in the table as the publish would"
        " leave it, or with `scope batch` among the new rows alone."
    )
    example = "distinct(origin, min=3, max=3)"
    nulls = "A key with a NULL in it is not counted. NaN equals NaN."
    takes = "any but nested"
    columns = (1, None)
    parameters = (
        ParameterSpec("min", "whole", "the fewest keys that pass"),
        ParameterSpec("max", "whole", "the most keys that pass"),
        *PAST,
    )
    judges = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> ValueJudged:
        low, high = (read.rule.parameter(name) for name in ("min", "max"))
        bounds = Bounds(
            "long",
            low.value if isinstance(low, Number) else None,
            high.value if isinstance(high, Number) else None,
        )
        if read.fresh and bounds.high is None and bounds.low == 0 and not has_past(read.rule):
            raise read.error(
                "parameter min", "there are always 0 keys or more, so that it says nothing"
            )
        measure = _keys(read, columns)
        named = ", ".join(read.rule.columns)
        return ValueJudged(f"number of distinct {named}", ask(measure), bounds, past_of(read.rule))


class KeyShare(RuleType):
    """What is judged is a share of the rows that have a key."""

    nulls = "A row with a NULL in its key is not counted. NaN equals NaN. Of no rows it passes."
    takes = "any but nested"
    columns = (1, None)
    parameters = PERCENTS
    judges = "share"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        check_limits(read)


class DistinctRatio(KeyShare):
    name = "distinct_ratio"
    summary = (
        "The number of different keys, as a share of the rows that have one, lies between the"
        " bounds, in the table as the publish would leave it, or with `scope batch` among the new"
        " rows alone."
    )
    example = "distinct_ratio(tail_num, max=5%)"

    def compile(self, read: ReadRule, columns: Resolver) -> ShareJudged:
        refuse_idle_share(read)
        keys = _keys(read, columns)
        present = rows_with(columns.every, columns.where)
        return ShareJudged(
            f"share of distinct {', '.join(read.rule.columns)}",
            ask(keys),
            ask(RowCount(scope=keys.scope, where=present)),
            percent_bounds(read.rule),
            past=past_of(read.rule),
        )


class UniqueRatio(KeyShare):
    name = "unique_ratio"
    summary = (
        "The share of rows whose key no other row has, among the rows that have one, lies between"
        " the bounds, in the table as the publish would leave it, or with `scope batch` among the"
        " new rows alone."
    )
    example = "unique_ratio(tail_num, min=90%)"

    def compile(self, read: ReadRule, columns: Resolver) -> ShareJudged:
        refuse_idle_share(read)
        scope = read.rule.scope or Scope.TABLE
        repeated = DuplicateRows(columns=columns.every, scope=scope, where=columns.where)
        return ShareJudged(
            f"share of unique {', '.join(read.rule.columns)}",
            ask(repeated),
            ask(RowCount(scope=scope, where=rows_with(columns.every, columns.where))),
            percent_bounds(read.rule),
            rest=True,
            past=past_of(read.rule),
        )


def _keys(read: ReadRule, columns: Resolver) -> DistinctCount:
    scope = read.rule.scope or Scope.TABLE
    return DistinctCount(columns=columns.every, scope=scope, where=columns.where)


def rows_with(keys: tuple[ColumnRef, ...], where: Condition | None) -> Condition:
    """Rows whose key has no NULL in it, among those that the rule is about."""
    items: list[Condition] = [Not(item=IsNull(of=key)) for key in keys]
    if where is not None:
        items.append(where)
    return items[0] if len(items) == 1 else And(items=tuple(items))
