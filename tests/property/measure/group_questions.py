"""Strategies: measures of keys, groups, sequences and spreads."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.aggregates import (
    Figure,
    Reckoned,
    Total,
    TotalAnd,
    TotalCompare,
    TotalMissing,
    TotalNot,
    TotalOr,
)
from lakeguard_sdk.expressions.conditions import Arithmetic, ColumnRef, Comparison
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    ComparedPart,
    ComparedRows,
    CountIf,
    DistinctCount,
    DistinctValues,
    Distribution,
    GroupBreach,
    GroupFaults,
    GroupPart,
    IntervalFault,
    IntervalFaults,
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SequenceGaps,
    UnmatchedRows,
)
from lakeguard_sdk.types.schema import INTEGERS, decimal_size, is_numeric
from tests.property.measure.questions import COLUMNS, conditions
from tests.property.measure.staging import OTHER

NUMBERS = [column for column in COLUMNS if is_numeric(column.type)]
STEPPED = [c for c in COLUMNS if c.type in (*INTEGERS, "date", "timestamp", "timestamp_ntz")]
ORDERED = [column for column in COLUMNS if column.type != "boolean"]
KEYS = [column for column in COLUMNS if column.type not in ("float", "double")]
_WHERE = st.one_of(st.none(), st.none(), conditions(1))
_SCOPES = st.sampled_from(Scope)
_FEW = [column for column in COLUMNS if column.name in ("yes", "s", "f")]
_GROUPS = st.lists(st.sampled_from(_FEW), max_size=2, unique=True).map(tuple)
_DAY = 86_400_000_000
_CLOSE: dict[str, list[Any]] = {
    "string": ["a", "b", "ß", "", "B"],
    "boolean": [True, False],
    "float": [0.0, -0.0, 1.5, math.nan, math.inf],
    "double": [0.0, -0.0, 1.5, 0.1, math.nan],
    "timestamp": [0, 1, 2, 3, _DAY, _DAY + 1, 2 * _DAY, -1],
    "timestamp_ntz": [0, 1, 2, 3, _DAY, _DAY + 1, 2 * _DAY, -1],
}


@st.composite
def close_rows(draw: st.DrawFn, most: int = 14) -> list[dict[str, Any]]:
    """Rows that are close to each other, so that keys meet, steps fit and groups have members."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    return [
        {column.name: _close(column.type, chance) for column in COLUMNS}
        for _ in range(draw(st.integers(0, most)))
    ]


def _close(data_type: str, chance: random.Random) -> Any:
    if chance.random() < 0.1:
        return None
    if size := decimal_size(data_type):
        return Decimal(chance.randrange(-2, 9)).scaleb(-size[1])
    return chance.choice(_CLOSE.get(data_type, [-1, 0, 1, 2, 4, 5, 9]))


def spreads() -> st.SearchStrategy[Any]:
    """One value of the batch; those of huge doubles overflow, and are left out."""
    tame = st.sampled_from([column for column in NUMBERS if column.type != "double"])
    return st.one_of(
        st.builds(
            Aggregate, function=st.just(AggregateFunction.DEVIATION), column=tame, where=_WHERE
        ),
        st.builds(
            Quantile, q=st.sampled_from(["0", "0.25", "0.5", "0.9", "1"]), column=tame, where=_WHERE
        ),
    )


def keys() -> st.SearchStrategy[Any]:
    several = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2, unique=True).map(tuple)
    return st.one_of(
        st.builds(DistinctCount, columns=several, scope=_SCOPES, where=_WHERE),
        st.builds(MostCommonRows, columns=several, scope=_SCOPES, where=_WHERE),
        st.builds(
            DistinctValues,
            column=st.sampled_from(COLUMNS),
            most=st.sampled_from([2, 100]),
            scope=_SCOPES,
            where=_WHERE,
        ),
        st.builds(
            Distribution,
            column=st.sampled_from(COLUMNS),
            most=st.sampled_from([2, 3, 50]),
            scope=_SCOPES,
            where=_WHERE,
        ),
        _references(),
        _compared(several),
    )


def _compared(several: st.SearchStrategy[Any]) -> st.SearchStrategy[ComparedRows]:
    """The other dataset has the same columns."""
    whole = st.just((tuple(COLUMNS), ()))
    named = several.map(lambda columns: (columns, tuple(c.name for c in columns)))
    return st.builds(
        lambda part, sides: ComparedRows(part=part, columns=sides[0], dataset=OTHER, to=sides[1]),
        st.sampled_from(ComparedPart),
        named | named | whole,
    )


@st.composite
def _references(draw: st.DrawFn) -> UnmatchedRows:
    """The other dataset has the same columns."""
    columns = tuple(draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True)))
    return UnmatchedRows(
        columns=columns,
        dataset=OTHER,
        to=tuple(column.name for column in columns),
        found=draw(st.booleans()),
        scope=draw(_SCOPES),
        where=draw(_WHERE),
    )


def sequences() -> st.SearchStrategy[Any]:
    stepped = st.sampled_from(STEPPED)
    return st.one_of(
        st.builds(
            SequenceGaps,
            column=stepped,
            step=st.sampled_from([1, 2, 86_400_000_000]),
            by=_GROUPS,
            scope=_SCOPES,
            where=_WHERE,
        ),
        st.builds(
            OutOfOrder,
            column=st.sampled_from(ORDERED),
            along=st.sampled_from(ORDERED),
            descending=st.booleans(),
            strict=st.booleans(),
            by=_GROUPS,
            scope=_SCOPES,
            where=_WHERE,
        ),
        stepped.flatmap(_intervals),
    )


def _intervals(start: ColumnRef) -> st.SearchStrategy[IntervalFaults]:
    """To a column of another type, but of the same kind."""
    alike = [end for end in STEPPED if end != start and _kind(end) == _kind(start)]
    return st.builds(
        IntervalFaults,
        fault=st.sampled_from(IntervalFault),
        start=st.just(start),
        end=st.sampled_from(alike or [start]),
        by=_GROUPS,
        scope=_SCOPES,
        where=_WHERE,
    )


def _kind(column: ColumnRef) -> str:
    return "integer" if column.type in INTEGERS else column.type.removesuffix("_ntz")


@st.composite
def faults(draw: st.DrawFn) -> GroupFaults:
    """Conditions over two aggregates and the number of rows."""
    small = st.sampled_from([c for c in COLUMNS if c.type in ("byte", "integer", "decimal(9,2)")])
    function = st.sampled_from([word for word in AggregateFunction if word != "deviation"])
    where = draw(_WHERE)
    terms = (
        RowCount(where=where),
        CountIf(condition=draw(conditions(1)), where=where),
        *(Aggregate(function=draw(function), column=draw(small), where=where) for _ in range(2)),
    )
    value = st.builds(Total, term=st.integers(0, 3)) | st.builds(
        Figure, text=st.sampled_from(["0", "1", "-2.5", "3"])
    )
    value |= st.builds(Reckoned, op=st.sampled_from(Arithmetic), left=value, right=value)
    test = st.builds(TotalCompare, op=st.sampled_from(Comparison), left=value, right=value)
    test |= st.builds(TotalMissing, of=value)
    several = st.lists(test, min_size=2, max_size=2).map(tuple)
    condition = st.one_of(
        test,
        st.builds(TotalAnd, items=several),
        st.builds(TotalOr, items=several),
        st.builds(TotalNot, item=test),
    )
    by = tuple(draw(st.lists(st.sampled_from(_FEW), min_size=1, max_size=2, unique=True)))
    return GroupFaults(terms=terms, condition=draw(condition), by=by, where=where)


def groups() -> st.SearchStrategy[Any]:
    by = st.lists(st.sampled_from(_FEW), min_size=1, max_size=2, unique=True).map(tuple)
    small = st.sampled_from([c for c in COLUMNS if c.type in ("byte", "integer", "decimal(9,2)")])
    functions = st.sampled_from(
        [
            AggregateFunction.MIN,
            AggregateFunction.MAX,
            AggregateFunction.SUM,
            AggregateFunction.MEAN,
        ]
    )
    value = st.one_of(
        st.builds(Aggregate, function=functions, column=small, where=_WHERE),
        st.builds(Quantile, q=st.just("0.5"), column=small, where=_WHERE),
        st.builds(RowCount, scope=_SCOPES, where=_WHERE),
    )
    bounds = st.sampled_from([(None, "1"), ("0", None), ("0", "2"), ("-1.5", "1.5")])
    breaches = st.builds(
        lambda part, of, by, bounds: GroupBreach(
            part=part, of=of, by=by, low=bounds[0], high=bounds[1]
        ),
        st.sampled_from([GroupPart.ROWS, GroupPart.GROUPS]),
        value,
        by,
        bounds,
    )
    return breaches | breaches | faults()
