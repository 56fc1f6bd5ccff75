"""``sql_row(amount * 2 <= total)``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard_sdk.expression import Not


class RowCondition(RuleType):
    name = "sql_row"
    summary = (
        "In every row the condition holds (see Conditions). What is asked of some rows alone"
        " stands behind `where`: `sql_row(arr is not null) where cancelled = false`."
    )
    example = "sql_row(amount * 2 <= total and lower(status) in ('a', 'b'))"
    nulls = "A row fails where the condition is FALSE; where it is NULL the row passes."
    takes = "any that the condition names"
    columns = (0, 0)
    parameters = (
        ParameterSpec("condition", "condition", "what holds in every row", required=True),
    )
    says = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        return failing_rows(Not(item=columns.said()), columns.where)
