"""``compare(a <= b)``"""

from __future__ import annotations

from lakeguard.gate.comparability import comparable, orderable
from lakeguard.gate.judgement import RowsJudged
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Operator
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.failing_rows import failing_rows
from lakeguard.gate.typed_values import NoSuchValue, Rounding, typed_value
from lakeguard.gate.written import OPPOSITES
from lakeguard_sdk.expression import (
    And,
    Arithmetic,
    Calculation,
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Function,
    IsNan,
    IsNull,
    Not,
    Or,
)
from lakeguard_sdk.reckoning import NotReckoned, absolute_type, reckoning
from lakeguard_sdk.schema import FLOATS, is_numeric

_TOLERANT = (Comparison.EQ, Comparison.LE, Comparison.GE)


class ColumnOrder(RuleType):
    name = "compare"
    summary = "In every row the two columns stand in the given relation: = <> < <= > >=."
    example = "compare(sched_dep_time <= sched_arr_time)"
    nulls = "A row with a NULL on either side passes. NaN on either side fails."
    takes = "two columns of one kind; booleans only with = and <>; no binary, none nested"
    columns = (2, 2)
    parameters = (
        ParameterSpec("op", "operator", "the relation, written between the columns"),
        ParameterSpec(
            "tolerance", "number", "how far numbers may miss the relation; with = <= and >= alone"
        ),
    )
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
        opposite: Condition = Compare(op=OPPOSITES[relation], left=left, right=right)
        if read.rule.parameter("tolerance") is not None:
            beyond = _beyond(read, left, right, relation)
            opposite = And(items=(opposite, beyond))
        return failing_rows(_failing(left, right, opposite), columns.where)


def _beyond(read: ReadRule, left: ColumnRef, right: ColumnRef, relation: Comparison) -> Condition:
    """Whether the columns miss the relation by more than the tolerance."""
    tolerance = read.rule.parameter("tolerance")
    if relation not in _TOLERANT:
        raise read.error("parameter tolerance", "a tolerance goes with = <= and >= alone")
    if not is_numeric(left.type):
        raise read.error("parameter tolerance", f"there is no tolerance between {left.type} values")
    if not isinstance(tolerance, Number) or tolerance.value <= 0:
        raise read.error("parameter tolerance", "a tolerance is greater than 0")
    sides = (right, left) if relation is Comparison.GE else (left, right)
    try:
        distance = _distance(*sides, signed=relation is not Comparison.EQ)
        limit = typed_value(tolerance, distance.type, Rounding.DOWN)
    except (NotReckoned, NoSuchValue) as reason:
        raise read.error("parameter tolerance", str(reason)) from None
    return Compare(op=Comparison.GT, left=distance, right=limit)


def _distance(left: ColumnRef, right: ColumnRef, *, signed: bool) -> Calculation | Call:
    kind = reckoning(Arithmetic.SUBTRACT, left.type, right.type).result
    distance = Calculation(op=Arithmetic.SUBTRACT, left=left, right=right, type=kind)
    if signed:
        return distance
    return Call(function=Function.ABS, arguments=(distance,), type=absolute_type(kind))


def _failing(left: ColumnRef, right: ColumnRef, opposite: Condition) -> Condition:
    """Engines put NaN above every number; here it stands in no relation to anything."""
    floats = [column for column in (left, right) if column.type in FLOATS]
    if not floats:
        return opposite
    present = tuple(Not(item=IsNull(of=column)) for column in (left, right))
    failing = Or(items=(*(IsNan(of=column) for column in floats), opposite))
    return And(items=(*present, failing))
