"""What the footers answer for nothing: rows, NULLs, and extremes of integers, dates and times."""

from __future__ import annotations

from lakeguard_sdk.expression import IsNull
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    MeasureValue,
    RowCount,
)
from lakeguard_sdk.schema import INTEGERS, TableSchema
from lakeguard_sdk.words import Scope
from openlaketx.measure.value_text import day, instant, local_instant, whole
from openlaketx.stage.candidate import Candidate
from openlaketx.stage.footer_ranges import column_range

_TELL = {
    **dict.fromkeys(INTEGERS, whole),
    "date": day,
    "timestamp": instant,
    "timestamp_ntz": local_instant,
}


class NoAnswer(Exception):
    """The footers do not prove an answer: the rows must be read."""


def answer(
    measure: RowCount | CountIf | DuplicateRows | Aggregate,
    candidate: Candidate,
    schema: TableSchema,
    existing_rows: int,
) -> MeasureValue:
    """The exact value, or ``NoAnswer``."""
    match measure:
        case RowCount(where=None, scope=scope):
            return whole(candidate.rows + (existing_rows if scope is Scope.TABLE else 0))
        case CountIf(condition=IsNull(of=ref), where=None):
            nulls = column_range(candidate.footers, schema.names.index(ref.name), raw=True).nulls
            if nulls is not None:
                return nulls
        case Aggregate(function=function, column=column, where=None) if column.type in _TELL:
            if function in (AggregateFunction.MIN, AggregateFunction.MAX):
                return _extreme(measure, candidate, schema)
    raise NoAnswer


def _extreme(measure: Aggregate, candidate: Candidate, schema: TableSchema) -> MeasureValue:
    column = measure.column
    found = column_range(candidate.footers, schema.names.index(column.name), raw=True)
    if not found.bounded:
        raise NoAnswer
    value = found.lowest if measure.function is AggregateFunction.MIN else found.highest
    return _TELL[column.type](value)
