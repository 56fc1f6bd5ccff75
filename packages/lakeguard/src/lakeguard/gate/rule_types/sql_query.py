"""``sql_query(sum(paid) = sum(due)) by order_id``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.measure import GroupFaults, RowCount


class GroupQuery(RuleType):
    name = "sql_query"
    summary = (
        "In every group of new rows that are equal in the columns behind `by`, a condition over"
        " aggregates holds, as in `select … group by … having not (…)`. Aggregates are those of"
        " `sql_agg` but for `count(distinct …)`; between them stand `+` `-` `*` `/` `%`, numbers,"
        " comparisons, `between`, `in`, `is null`, `and`, `or` and `not`. All rows of a group that"
        " fails count. With more than 100,000 groups the rule cannot be judged, and blocks."
    )
    example = "sql_query(sum(paid) = sum(due) and count(*) <= 50) by order_id"
    nulls = (
        "A group fails where the condition is not TRUE: so does one whose aggregate has no value,"
        " or that is divided by 0, unless `is null` allows it. NaN and infinity are compared as in"
        " conditions; what is reckoned with them has no value. NULL is a group of its own."
    )
    takes = "any that it names"
    columns = (0, 0)
    parameters = (
        ParameterSpec("condition", "condition", "what holds in every group", required=True),
    )
    says = True
    says_totals = True
    groups = True

    def check(self, read: ReadRule) -> None:
        if not read.rule.by:
            raise read.error("type", "sql_query is about groups: write by, or ask sql_agg")

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        condition, terms = columns.said_of_groups()
        faults = GroupFaults(terms=terms, condition=condition, by=columns.by, where=columns.where)
        return RowsJudged(ask(faults), ask(RowCount(where=columns.where)))
