"""``sql_agg(sum(amount) / count(*), min=, max=)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import AggregateArgument, ParsedRule
from lakeguard.gate.grammar.unparse import written_text
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import check_limits
from lakeguard.gate.typecheck.aggregate_bounds import aggregate_interval
from lakeguard.gate.typecheck.checks import Bounds, FormulaCheck, RowCheck, measure_ref
from lakeguard.gate.typecheck.intervals import Interval, compare_intervals
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.aggregates import divides
from lakeguard_sdk.expressions.conditions import Comparison, Not
from lakeguard_sdk.expressions.measures import GroupFaults, RowCount


class TotalFormula(RuleType):
    name = "sql_agg"
    summary = (
        "An aggregate over the new rows is within the bounds: `sum(x)`, `min(x)`, `max(x)`, "
        "`avg(x)`, `count(x)`, `count(distinct column)` and `count(*)`, combined with `+` `-` "
        "`*` `/` `%` and numbers. `x` is any numeric expression of conditions; `count` takes "
        "any value."
    )
    example = "sql_agg(sum(amount * quantity) / count(distinct order_id), min=5, max=500)"
    nulls = (
        "Rows where `x` is NULL are ignored. An aggregate without a value, or a division by "
        "0, fails the rule. A NaN makes the value NaN, which fails."
    )
    takes = "any type that it names"
    columns = (0, 0)
    limit_target = "value"
    parameters = (
        ParameterSpec("aggregate", "aggregate", "the aggregate", required=True),
        ParameterSpec("min", "number", "minimum, inclusive"),
        ParameterSpec("max", "number", "maximum, inclusive"),
    )
    totals = True

    def check(self, read: ParsedRule) -> None:
        check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> FormulaCheck:
        total = columns.total()
        inexact = total.inexact or divides(total.formula)
        low, high = (_number(read, name) for name in ("min", "max"))
        if read.fresh:
            _refuse_idle(read, aggregate_interval(total.formula, total.measures, 0), low, high)
        bounds = Bounds("double" if inexact else "decimal(38,18)", low, high, summed=inexact)
        terms = tuple(measure_ref(measure) for measure in total.measures)
        return FormulaCheck(_subject(read), terms, total.formula, bounds)


def _refuse_idle(
    read: ParsedRule, values: Interval, low: Decimal | None, high: Decimal | None
) -> None:
    """Refuses bounds that the value always or never satisfies."""
    ends = {Comparison.GE: low, Comparison.LE: high}
    results = [
        compare_intervals(op, values, Interval(end, end))
        for op, end in ends.items()
        if end is not None
    ]
    if results and (False in results or all(results)):
        message = "this is constant, whatever the data"
        raise read.error("parameter min" if low is not None else "parameter max", message)


def _number(read: ParsedRule, name: str) -> Decimal | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None


def _subject(read: ParsedRule) -> str:
    totalled = read.rule.parameter("aggregate")
    return written_text(totalled.tree) if isinstance(totalled, AggregateArgument) else ""


# ``sql_query(sum(paid) = sum(due)) by order_id``


class GroupQuery(RuleType):
    name = "sql_query"
    summary = (
        "A condition over aggregates holds in every group of new rows that are equal in the "
        "columns after `by`, as in `select … group by … having not (…)`. Aggregates are those "
        "of `sql_agg` except `count(distinct …)`, combined with `+` `-` `*` `/` `%`, numbers, "
        "comparisons, `between`, `in`, `is null`, `and`, `or` and `not`. All rows of a "
        "failing group count. With more than 100,000 groups the rule cannot be evaluated and "
        "blocks."
    )
    example = "sql_query(sum(paid) = sum(due) and count(*) <= 50) by order_id"
    nulls = (
        "A group fails unless the condition is TRUE: also if an aggregate has no value or is "
        "divided by 0, unless `is null` allows it. NaN and infinity compare as in conditions; "
        "arithmetic with them has no value. NULL is a group of its own."
    )
    takes = "any type that it names"
    columns = (0, 0)
    parameters = (
        ParameterSpec(
            "condition", "condition", ("the condition that every group must satisfy"), required=True
        ),
    )
    takes_condition = True
    takes_group_condition = True
    groups = True

    def check(self, read: ParsedRule) -> None:
        if not read.rule.by:
            raise read.error("type", "sql_query needs by; use sql_agg for all rows together")

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        condition, terms = columns.group_condition()
        faults = GroupFaults(terms=terms, condition=condition, by=columns.by, where=columns.where)
        return RowCheck(measure_ref(faults), measure_ref(RowCount(where=columns.where)))


# ``sql_row(amount * 2 <= total)``


class RowCondition(RuleType):
    name = "sql_row"
    summary = (
        "The condition holds in every row (see Conditions). Use `where` to select rows: "
        "`sql_row(arr is not null) where cancelled = false`."
    )
    example = "sql_row(amount * 2 <= total and lower(status) in ('a', 'b'))"
    nulls = "A row fails if the condition is FALSE; it passes if the condition is NULL."
    takes = "any type that the condition names"
    columns = (0, 0)
    parameters = (
        ParameterSpec(
            "condition", "condition", ("the condition that every row must satisfy"), required=True
        ),
    )
    takes_condition = True

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        return failing_rows(Not(item=columns.condition()), columns.where)
