"""What the footers answer for nothing: rows, NULLs, and extremes of integers, dates and times."""

from __future__ import annotations

from lakeguard_sdk.expression import ColumnRef, IsNull
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    AnyMeasure,
    CountIf,
    MeasureValue,
    RowCount,
)
from lakeguard_sdk.schema import INTEGERS, TableSchema
from lakeguard_sdk.words import Scope
from openlaketx.measure.value_text import day, instant, local_instant, whole
from openlaketx.stage.candidate import Candidate
from openlaketx.stage.footer_ranges import column_range, leaf_indexes

_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)
_TELL = {
    **dict.fromkeys(INTEGERS, whole),
    "date": day,
    "timestamp": instant,
    "timestamp_ntz": local_instant,
}


class NoAnswer(Exception):
    """The footers do not prove an answer: the rows must be read."""


def answer(
    measure: AnyMeasure, candidate: Candidate, schema: TableSchema, table_rows: int
) -> MeasureValue:
    """The exact value, or ``NoAnswer``; footers that were not read prove nothing."""
    if len(candidate.footers) != len(candidate.files):
        raise NoAnswer
    match measure:
        case RowCount(where=None, scope=scope):
            return whole(table_rows if scope is Scope.TABLE else candidate.rows)
        case CountIf(condition=IsNull(of=ColumnRef() as ref), where=None):
            nulls = column_range(candidate.footers, _place(ref.name, schema), raw=True).nulls
            if nulls is not None:
                return nulls
        case Aggregate(function=function, column=ColumnRef() as ref, where=None):
            if function in _EXTREMES and ref.type in _TELL:
                return _extreme(function, ref, candidate, schema)
    raise NoAnswer


def _extreme(
    function: AggregateFunction, column: ColumnRef, candidate: Candidate, schema: TableSchema
) -> MeasureValue:
    found = column_range(candidate.footers, _place(column.name, schema), raw=True)
    if not found.bounded:
        raise NoAnswer
    value = found.lowest if function is AggregateFunction.MIN else found.highest
    return _TELL[column.type](value)


def _place(name: str, schema: TableSchema) -> int:
    place = leaf_indexes(schema).get(name)
    if place is None:
        raise NoAnswer
    return place
