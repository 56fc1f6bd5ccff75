"""Types an aggregate expression: the measures it needs and how to combine them."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    AllOf,
    AnyOf,
    Between,
    Calculated,
    Compared,
    Membership,
    Negation,
    NullTest,
    WhereNode,
    WrittenNode,
)
from lakeguard.gate.typecheck.aggregate_bounds import (
    aggregate_interval,
    is_there,
    never_equal,
    total_difference,
    whole_values,
)
from lakeguard.gate.typecheck.intervals import ZERO, compare_intervals
from lakeguard.gate.typecheck.typed_conditions import ConditionTyper
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.aggregates import (
    Figure,
    Reckoned,
    Total,
    TotalAnd,
    TotalCompare,
    TotalCondition,
    TotalMissing,
    TotalNot,
    TotalOr,
    TotalValue,
)
from lakeguard_sdk.expressions.conditions import (
    Arithmetic,
    ColumnRef,
    Comparison,
    Condition,
    IsNull,
    Not,
    Scalar,
    type_of,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctCount,
    GroupTerm,
    Measure,
    RowCount,
)
from lakeguard_sdk.types.schema import (
    FLOATS,
    TableSchema,
    is_nested,
    is_numeric,
)

_FUNCTIONS = {
    "sum": AggregateFunction.SUM,
    "min": AggregateFunction.MIN,
    "max": AggregateFunction.MAX,
    "avg": AggregateFunction.MEAN,
}


_DIVIDING = (Arithmetic.DIVIDE, Arithmetic.REMAINDER)


class AggregateTyper(ConditionTyper):
    """``measures`` are the terms of ``formula``; ``inexact`` means that a double is among them."""

    prefix: ClassVar[str] = "aggregate"
    """Prefix of the spans of its parts."""

    def __init__(self, read: ParsedRule, schema: TableSchema, where: Condition | None) -> None:
        super().__init__(read, schema, self.prefix)
        self._where = where
        self.measures: list[Measure] = []
        self.inexact = False
        self.formula: TotalValue = Total(term=0)

    def read(self, node: WrittenNode) -> None:
        self.formula = self._formula(node)

    def _formula(self, node: WrittenNode) -> TotalValue:
        match node:
            case Number(value=value):
                self._next()
                return Figure(text=format(value, "f"))
            case Calculated(op=op, left=left, right=right):
                one = self._formula(left)
                part = self._next()
                other = self._formula(right)
                if self._read.fresh and op in _DIVIDING and _is_zero(other):
                    raise self._read.error(part, "division by zero")
                return Reckoned(op=op, left=one, right=other)
            case Aggregated():
                return self._term(self._measure(node))
        raise self._read.error(self._here, "a number or an aggregate expected")

    def _term(self, measure: Measure) -> Total:
        if measure not in self.measures:
            self.measures.append(measure)
        return Total(term=self.measures.index(measure))

    def _measure(self, node: Aggregated) -> Measure:
        self._next()
        if node.of is None:
            return RowCount(where=self._where)
        part = self._here
        of = self.scalar(node.of)
        if node.distinct:
            return self._distinct(of, part)
        if node.function == "count":
            return CountIf(condition=Not(item=IsNull(of=of)), where=self._where)
        if not is_numeric(type_of(of)):
            message = f"{node.function} needs a number here, and this is {type_of(of)}"
            raise self._read.error(part, message)
        self.inexact |= type_of(of) in FLOATS or node.function == "avg"
        return Aggregate(function=_FUNCTIONS[node.function], column=of, where=self._where)

    def _distinct(self, of: Scalar, part: str) -> Measure:
        if not isinstance(of, ColumnRef) or is_nested(of.type):
            raise self._read.error(part, "count(distinct …) needs a column that is not nested")
        return DistinctCount(columns=(of,), scope=Scope.BATCH, where=self._where)


def _is_zero(value: TotalValue) -> bool:
    return isinstance(value, Figure) and Decimal(value.text) == 0


# Conditions over aggregates: the terms they need and how to compare them.


class TotalTyper(AggregateTyper):
    """Visits the tree in the order in which the parser recorded its spans."""

    prefix = "condition"

    def total_condition(self, tree: WhereNode) -> TotalCondition:
        """GrammarError unless it is a condition over aggregates."""
        match tree:
            case AllOf(items=items):
                return TotalAnd(items=tuple(self.total_condition(item) for item in items))
            case AnyOf(items=items):
                return TotalOr(items=tuple(self.total_condition(item) for item in items))
            case Negation(item=item):
                return TotalNot(item=self.total_condition(item))
            case NullTest(of=of, negated=negated):
                part, one = self._here, self._formula(of)
                self._refuse_constant(part, False if is_there(one, self.measures) else None)
                return _negated(TotalMissing(of=one), negated)
            case Compared(op=op, left=left, right=right):
                part, one = self._here, self._formula(left)
                other = self._formula(right)
                self._refuse_constant(part, self._foretold(op, one, other))
                return TotalCompare(op=op, left=one, right=other)
            case Between(of=of, low=low, high=high, negated=negated):
                part, one = self._here, self._formula(of)
                ends = zip((Comparison.GE, Comparison.LE), (low, high), strict=True)
                both = tuple(
                    TotalCompare(op=op, left=one, right=self._formula(end)) for op, end in ends
                )
                results = [self._foretold(item.op, item.left, item.right) for item in both]
                self._refuse_constant(part, False if False in results else all(results) or None)
                return _negated(TotalAnd(items=both), negated)
            case Membership(of=of, values=values, negated=negated):
                part, one = self._here, self._formula(of)
                same = tuple(self._same(one, value) for value in values)
                self._refuse_constant(part, self._lists_all(one, same) or None)
                return _negated(TotalOr(items=same), negated)
        raise self._read.error(
            self._here, ("aggregates are numbers and must be compared with numbers")
        )

    def _same(self, one: TotalValue, value: WrittenNode) -> TotalCompare:
        part, other = self._here, self._formula(value)
        self._refuse_constant(part, self._foretold(Comparison.EQ, one, other))
        return TotalCompare(op=Comparison.EQ, left=one, right=other)

    def _lists_all(self, one: TotalValue, same: tuple[TotalCompare, ...]) -> bool:
        """Whether every value that it may have is listed."""
        possible = whole_values(one, self.measures, 1, len(same))
        listed = {Decimal(item.right.text) for item in same if isinstance(item.right, Figure)}
        return bool(possible) and possible <= listed

    def _refuse_constant(self, part: str, found: bool | None) -> None:
        if self._read.fresh and found is not None:
            message = "this is the same for every group"
            raise self._read.error(part, message)

    def _foretold(self, op: Comparison, one: TotalValue, other: TotalValue) -> bool | None:
        """The result of a comparison in every group, which has at least one row; None if it
        varies."""
        reaches = (aggregate_interval(side, self.measures, 1) for side in (one, other))
        found = compare_intervals(op, *reaches)
        if found is not None:
            return found
        if op in (Comparison.EQ, Comparison.NE) and never_equal(one, other, self.measures):
            return op is Comparison.NE
        return compare_intervals(op, total_difference(one, other, self.measures, 1), ZERO)

    def terms(self) -> tuple[GroupTerm, ...]:
        """The aggregates, in the order that the condition refers to."""
        return tuple(self._term_of(measure) for measure in self.measures)

    def _term_of(self, measure: Measure) -> GroupTerm:
        if isinstance(measure, GroupTerm):
            return measure
        what = "count(distinct …)" if isinstance(measure, DistinctCount) else measure.measure
        raise self._read.error("parameter condition", f"{what} is not supported per group")


def _negated(condition: TotalCondition, negated: bool) -> TotalCondition:
    return TotalNot(item=condition) if negated else condition
