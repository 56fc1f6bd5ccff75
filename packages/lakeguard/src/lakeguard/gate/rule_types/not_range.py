"""``not_range(column, min=, max=)``"""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.rule_types.value_range import check_bounds
from lakeguard_sdk.expression import And, Compare, Comparison, Condition
from lakeguard_sdk.schema import TIMES, is_numeric


class OutsideRange(RuleType):
    name = "not_range"
    summary = "No value lies between the bounds; both bounds belong to what fails."
    example = "not_range(seat, min=13, max=13)"
    nulls = "NULL passes. NaN passes: it lies between no bounds."
    takes = "numbers, dates, timestamps"
    parameters = (
        ParameterSpec("min", "bound", "the least value that fails", required=True),
        ParameterSpec("max", "bound", "the greatest value that fails", required=True),
    )

    def check(self, read: ReadRule) -> None:
        check_bounds(read)

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column = columns.column()
        accepted = is_numeric(column.type) or column.type in TIMES
        columns.column_of("numbers, dates or timestamps", accepted)
        low, high, _ = columns.bounds(column.type)
        inside: list[Condition] = []
        if low is not None:
            inside.append(Compare(op=Comparison.GE, left=column, right=low))
        if high is not None:
            inside.append(Compare(op=Comparison.LE, left=column, right=high))
        return failing_rows(And(items=tuple(inside)), columns.where)
