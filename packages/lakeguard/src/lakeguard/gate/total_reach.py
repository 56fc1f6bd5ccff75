"""How far a value that is reckoned out of aggregates can reach, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from lakeguard.gate.reach import NOTHING, Reach, reckoned_reach
from lakeguard_sdk.expression import Arithmetic, type_of
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctCount,
    Measure,
    RowCount,
)
from lakeguard_sdk.schema import FLOATS
from lakeguard_sdk.total_value import Figure, Reckoned, Total, TotalValue

_COUNTS = (RowCount, CountIf, DistinctCount)
_DIVIDING = (Arithmetic.DIVIDE, Arithmetic.REMAINDER)


def total_reach(of: TotalValue, terms: Sequence[Measure], rows: int) -> Reach:
    """Where there are at least so many ``rows``. Wider than it is where that is not known."""
    match of:
        case Figure(text=text):
            return Reach(Decimal(text), Decimal(text))
        case Total(term=term):
            if isinstance(terms[term], _COUNTS):
                return Reach(Decimal(rows if isinstance(terms[term], RowCount) else 0))
            return Reach()
        case Reckoned(op=Arithmetic.SUBTRACT, left=left, right=right) if left == right:
            return NOTHING if _is_exact(left, terms) else Reach()
        case Reckoned(op=op, left=left, right=right):
            sides = (total_reach(side, terms, rows) for side in (left, right))
            return reckoned_reach(op, *sides)


def is_there(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether it has a value, whatever the rows hold."""
    match of:
        case Total(term=term):
            return isinstance(terms[term], _COUNTS)
        case Reckoned(op=op, left=left, right=right):
            both = is_there(left, terms) and is_there(right, terms)
            return both and op not in _DIVIDING
    return True


def _is_exact(of: TotalValue, terms: Sequence[Measure]) -> bool:
    """Whether no term of it can be NaN or infinite."""
    match of:
        case Total(term=term):
            measure = terms[term]
            if not isinstance(measure, Aggregate):
                return True
            mean = measure.function is AggregateFunction.MEAN
            return not mean and type_of(measure.column) not in FLOATS
        case Reckoned(left=left, right=right):
            return _is_exact(left, terms) and _is_exact(right, terms)
    return True
