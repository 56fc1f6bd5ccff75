"""``compare(a <= b)``"""

from __future__ import annotations

from lakeguard.gate.comparability import comparable, orderable
from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Operator
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.where_tree import OPPOSITES
from lakeguard_sdk.expression import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    IsNan,
    IsNull,
    Not,
    Or,
)
from lakeguard_sdk.measure import CountIf, RowCount
from lakeguard_sdk.schema import FLOATS


class ColumnOrder(RuleType):
    name = "compare"
    summary = "In every row the two columns stand in the given relation: = <> < <= > >=."
    example = "compare(sched_dep_time <= sched_arr_time)"
    nulls = "A row with a NULL on either side passes. NaN on either side fails."
    takes = "two columns of one kind; booleans only with = and <>; no binary, none nested"
    columns = (2, 2)
    parameters = (ParameterSpec("op", "operator", "the relation, written between the columns"),)
    compares = True

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        left, right = columns.every
        op = read.rule.parameter("op")
        relation = op.op if isinstance(op, Operator) else Comparison.EQ
        if not comparable(left.type, right.type):
            raise read.error(
                "column 1",
                f"{left.name} ({left.type}) cannot be compared with "
                f"{right.name} ({right.type}) alike in every engine",
            )
        if not orderable(left.type, relation):
            raise read.error("parameter op", f"a {left.type} has no order: use = or <>")
        failing = _failing(left, right, Compare(op=OPPOSITES[relation], left=left, right=right))
        return RowsJudged(
            failed=ask(CountIf(condition=failing, where=columns.where)),
            scope=ask(RowCount(where=columns.where)),
        )


def _failing(left: ColumnRef, right: ColumnRef, opposite: Condition) -> Condition:
    """Engines put NaN above every number; here it stands in no relation to anything."""
    floats = [column for column in (left, right) if column.type in FLOATS]
    if not floats:
        return opposite
    present = tuple(Not(item=IsNull(of=column)) for column in (left, right))
    failing = Or(items=(*(IsNan(of=column) for column in floats), opposite))
    return And(items=(*present, failing))
