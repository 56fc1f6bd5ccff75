"""``null(column)``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard_sdk.expression import IsNull, Not


class MustBeNull(RuleType):
    name = "null"
    summary = "No row has a value in the column."
    example = "null(dep_time) where cancelled = true"
    nulls = "A value fails, and NULL passes. NaN and an empty text are values."
    takes = "any, also nested"
    nested = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        return failing_rows(Not(item=IsNull(of=columns.column())), columns.where)
