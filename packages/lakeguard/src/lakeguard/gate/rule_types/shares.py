"""``completeness(column)``, ``distinct(column, …)``, ``distinct_ratio`` and ``unique_ratio``"""

from __future__ import annotations

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import (
    PAST,
    PERCENTS,
    check_limits,
    has_past,
    past_of,
    percent_bounds,
    refuse_idle_share,
)
from lakeguard.gate.typecheck.checks import (
    Bounds,
    MostCommonCheck,
    ShareCheck,
    ValueCheck,
    measure_ref,
)
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard.gate.typecheck.typed_values import Rounding
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    IsNull,
    Not,
)
from lakeguard_sdk.expressions.measures import (
    CountIf,
    DistinctCount,
    DuplicateRows,
    MostCommonRows,
    RowCount,
)


class Completeness(RuleType):
    name = "completeness"
    summary = "The share of rows with a value in the column is within the bounds."
    example = "completeness(tail_num, min=95%)"
    nulls = "NULL counts as missing. An empty text and NaN are values. Without rows it passes."
    takes = "any type, including nested"
    nested = True
    parameters = PERCENTS
    limit_target = "share"

    def check(self, read: ParsedRule) -> None:
        check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ShareCheck:
        refuse_idle_share(read)
        column, where = columns.column(), columns.where
        return ShareCheck(
            f"completeness of {column.name}",
            measure_ref(CountIf(condition=IsNull(of=column), where=where)),
            measure_ref(RowCount(where=where)),
            percent_bounds(read.rule),
            rest=True,
            past=past_of(read.rule),
        )


class Distinct(RuleType):
    name = "distinct"
    summary = (
        "The number of distinct keys is within the bounds, in the table as it will be after "
        "the publish, or with `scope batch` among the new rows only."
    )
    example = "distinct(origin, min=3, max=3)"
    nulls = "A key with a NULL is not counted. NaN equals NaN."
    takes = "any type except nested"
    columns = (1, None)
    parameters = (
        ParameterSpec("min", "whole", "minimum number of keys"),
        ParameterSpec("max", "whole", "maximum number of keys"),
        *PAST,
    )
    limit_target = "value"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ValueCheck:
        low, high = (read.rule.parameter(name) for name in ("min", "max"))
        bounds = Bounds(
            "long",
            low.value if isinstance(low, Number) else None,
            high.value if isinstance(high, Number) else None,
        )
        if read.fresh and bounds.high is None and bounds.low == 0 and not has_past(read.rule):
            raise read.error("parameter min", "this always holds: there are 0 keys or more")
        measure = _keys(read, columns)
        named = ", ".join(read.rule.columns)
        return ValueCheck(
            f"number of distinct {named}", measure_ref(measure), bounds, past_of(read.rule)
        )


class KeyShare(RuleType):
    """A share of the rows that have a key."""

    nulls = "A row with a NULL in its key is not counted. NaN equals NaN. Without rows it passes."
    takes = "any type except nested"
    columns = (1, None)
    parameters = PERCENTS
    limit_target = "share"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        check_limits(read)


class DistinctRatio(KeyShare):
    name = "distinct_ratio"
    summary = (
        "The number of distinct keys, as a share of the rows with a key, is within the "
        "bounds, in the table as it will be after the publish, or with `scope batch` among "
        "the new rows only."
    )
    example = "distinct_ratio(tail_num, max=5%)"

    def compile(self, read: ParsedRule, columns: Resolver) -> ShareCheck:
        refuse_idle_share(read)
        keys = _keys(read, columns)
        present = rows_with(columns.every, columns.where)
        return ShareCheck(
            f"share of distinct {', '.join(read.rule.columns)}",
            measure_ref(keys),
            measure_ref(RowCount(scope=keys.scope, where=present)),
            percent_bounds(read.rule),
            past=past_of(read.rule),
        )


class UniqueRatio(KeyShare):
    name = "unique_ratio"
    summary = (
        "The share of rows with a unique key, among the rows with a key, is within the "
        "bounds, in the table as it will be after the publish, or with `scope batch` among "
        "the new rows only."
    )
    example = "unique_ratio(tail_num, min=90%)"

    def compile(self, read: ParsedRule, columns: Resolver) -> ShareCheck:
        refuse_idle_share(read)
        scope = read.rule.scope or Scope.TABLE
        repeated = DuplicateRows(columns=columns.every, scope=scope, where=columns.where)
        return ShareCheck(
            f"share of unique {', '.join(read.rule.columns)}",
            measure_ref(repeated),
            measure_ref(RowCount(scope=scope, where=rows_with(columns.every, columns.where))),
            percent_bounds(read.rule),
            rest=True,
            past=past_of(read.rule),
        )


def _keys(read: ParsedRule, columns: Resolver) -> DistinctCount:
    scope = read.rule.scope or Scope.TABLE
    return DistinctCount(columns=columns.every, scope=scope, where=columns.where)


def rows_with(keys: tuple[ColumnRef, ...], where: Condition | None) -> Condition:
    """Rows whose key has no NULL, among those that ``where`` selects."""
    items: list[Condition] = [Not(item=IsNull(of=key)) for key in keys]
    if where is not None:
        items.append(where)
    return items[0] if len(items) == 1 else And(items=tuple(items))


# ``most_common(column, value=, min=, max=)``


class MostCommon(RuleType):
    name = "most_common"
    summary = (
        "The share of rows with the most frequent value, among the rows with a value, is "
        "within the bounds; with `value`, the most frequent value must be that one, possibly "
        "tied with others. In the table as it will be after the publish, or with `scope "
        "batch` among the new rows only."
    )
    example = "most_common(status, value='OPEN', max=80%)"
    nulls = "NULL is ignored. NaN equals NaN. Without rows it passes."
    takes = "any type except nested; with `value`, not binary either"
    parameters = (ParameterSpec("value", "literal", "the most frequent value"), *PERCENTS)
    limit_target = "share"
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        if read.rule.parameter("value") is None or _limited(read):
            check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ShareCheck | MostCommonCheck:
        column, scope = columns.column(), read.rule.scope or Scope.TABLE
        share = ShareCheck(
            f"share of the most common {column.name}",
            measure_ref(MostCommonRows(columns=(column,), scope=scope, where=columns.where)),
            measure_ref(RowCount(scope=scope, where=rows_with((column,), columns.where))),
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
        return MostCommonCheck(share, measure_ref(RowCount(scope=scope, where=same)), value.text)


def _limited(read: ParsedRule) -> bool:
    rule = read.rule
    bounds = any(rule.parameter(name) is not None for name in ("min", "max"))
    return bounds or has_past(rule) or rule.warn_if is not None or rule.fail_if is not None
