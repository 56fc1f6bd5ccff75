"""A condition over aggregates, over a schema: the terms it needs and how they are compared."""

from __future__ import annotations

from lakeguard.gate.senseless import compared_reaches
from lakeguard.gate.total_reach import is_there, total_reach
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
    WrittenNode,
)
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.measure import DistinctCount, GroupTerm, Measure
from lakeguard_sdk.total_condition import (
    TotalAnd,
    TotalCompare,
    TotalCondition,
    TotalMissing,
    TotalNot,
    TotalOr,
)
from lakeguard_sdk.total_value import TotalValue


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
                part, one = self._here, self._formula(of)
                self._refuse_if_told(part, False if is_there(one, self.measures) else None)
                return _negated(TotalMissing(of=one), negated)
            case Compared(op=op, left=left, right=right):
                part, one = self._here, self._formula(left)
                other = self._formula(right)
                self._refuse_if_told(part, self._foretold(op, one, other))
                return TotalCompare(op=op, left=one, right=other)
            case Between(of=of, low=low, high=high, negated=negated):
                part, one = self._here, self._formula(of)
                ends = zip((Comparison.GE, Comparison.LE), (low, high), strict=True)
                both = tuple(
                    TotalCompare(op=op, left=one, right=self._formula(end)) for op, end in ends
                )
                told = [self._foretold(item.op, item.left, item.right) for item in both]
                self._refuse_if_told(part, False if False in told else all(told) or None)
                return _negated(TotalAnd(items=both), negated)
            case Membership(of=of, values=values, negated=negated):
                one = self._formula(of)
                same = tuple(self._same(one, value) for value in values)
                return _negated(TotalOr(items=same), negated)
        raise self._read.error(self._here, "aggregates are numbers, and are compared as numbers")

    def _same(self, one: TotalValue, value: WrittenNode) -> TotalCompare:
        part, other = self._here, self._formula(value)
        self._refuse_if_told(part, self._foretold(Comparison.EQ, one, other))
        return TotalCompare(op=Comparison.EQ, left=one, right=other)

    def _refuse_if_told(self, part: str, found: bool | None) -> None:
        if self._read.fresh and found is not None:
            message = "this is the same for every group, so that it says nothing"
            raise self._read.error(part, message)

    def _foretold(self, op: Comparison, one: TotalValue, other: TotalValue) -> bool | None:
        """Every group has a row at least."""
        reaches = (total_reach(side, self.measures, 1) for side in (one, other))
        return compared_reaches(op, *reaches)

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
