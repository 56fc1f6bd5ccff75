"""A condition over aggregates, over a schema: the terms it needs and how they are compared."""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.reach import Reach
from lakeguard.gate.senseless import compared_reaches
from lakeguard.gate.typed_aggregates import AggregateTyper
from lakeguard.gate.written import (
    AllOf,
    AnyOf,
    Between,
    Compared,
    Membership,
    Negation,
    NullTest,
    WhereNode,
)
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.measure import CountIf, DistinctCount, GroupTerm, Measure, RowCount
from lakeguard_sdk.total_condition import (
    TotalAnd,
    TotalCompare,
    TotalCondition,
    TotalMissing,
    TotalNot,
    TotalOr,
)
from lakeguard_sdk.total_value import Figure, Total, TotalValue


class TotalTyper(AggregateTyper):
    """Goes through the tree in the order in which the reader noted the places of its parts."""

    prefix = "condition"

    def said(self, tree: WhereNode) -> TotalCondition:
        """GrammarError where it is no condition over aggregates."""
        match tree:
            case AllOf(items=items):
                return TotalAnd(items=tuple(self.said(item) for item in items))
            case AnyOf(items=items):
                return TotalOr(items=tuple(self.said(item) for item in items))
            case Negation(item=item):
                return TotalNot(item=self.said(item))
            case NullTest(of=of, negated=negated):
                return _negated(TotalMissing(of=self._formula(of)), negated)
            case Compared(op=op, left=left, right=right):
                part, one = self._here, self._formula(left)
                other = self._formula(right)
                if self._read.fresh and self._same_for_all(op, one, other):
                    message = "this is the same for every group, so that it says nothing"
                    raise self._read.error(part, message)
                return TotalCompare(op=op, left=one, right=other)
            case Between(of=of, low=low, high=high, negated=negated):
                one = self._formula(of)
                ends = zip((Comparison.GE, Comparison.LE), (low, high), strict=True)
                both = tuple(
                    TotalCompare(op=op, left=one, right=self._formula(end)) for op, end in ends
                )
                return _negated(TotalAnd(items=both), negated)
            case Membership(of=of, values=values, negated=negated):
                one = self._formula(of)
                same = tuple(
                    TotalCompare(op=Comparison.EQ, left=one, right=self._formula(value))
                    for value in values
                )
                return _negated(TotalOr(items=same), negated)
        raise self._read.error(self._here, "aggregates are numbers, and are compared as numbers")

    def _same_for_all(self, op: Comparison, one: TotalValue, other: TotalValue) -> bool:
        """Whether a number of rows is held against one that it can never reach, or always does."""
        if not isinstance(one, Total) or not isinstance(other, Figure):
            return False
        number, counted = Decimal(other.text), self.measures[one.term]
        if not isinstance(counted, RowCount | CountIf):
            return False
        least = Decimal(1 if isinstance(counted, RowCount) else 0)
        return compared_reaches(op, Reach(least), Reach(number, number)) is not None

    def terms(self) -> tuple[GroupTerm, ...]:
        """The aggregates that the condition counts by their places."""
        return tuple(self._term_of(measure) for measure in self.measures)

    def _term_of(self, measure: Measure) -> GroupTerm:
        if isinstance(measure, GroupTerm):
            return measure
        what = "count(distinct …)" if isinstance(measure, DistinctCount) else measure.measure
        raise self._read.error("parameter condition", f"{what} of each group is not asked here")


def _negated(condition: TotalCondition, negated: bool) -> TotalCondition:
    return TotalNot(item=condition) if negated else condition
