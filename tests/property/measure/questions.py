"""Strategies: columns of every type with the values on which engines differ, and measures."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    RowCount,
)
from lakeguard_sdk.types.schema import (
    FLOATS,
    Column,
    TableSchema,
    decimal_size,
    is_numeric,
)
from tests.property.measure.literals import to_value

SCHEMA = TableSchema(
    columns=tuple(
        Column(name=name, type=data_type)
        for name, data_type in {
            "b": "byte",
            "i": "integer",
            "Long Column": "long",
            "f": "float",
            "d": "double",
            'small "quoted"': "decimal(9,2)",
            "wide": "decimal(38,18)",
            "s": "string",
            "yes": "boolean",
            "day": "date",
            "at": "timestamp",
            "local": "timestamp_ntz",
        }.items()
    )
)
COLUMNS = [ColumnRef(name=column.name, type=column.type) for column in SCHEMA.columns]
ALIKE = [
    (one, other)
    for one in COLUMNS
    for other in COLUMNS
    if one.type == other.type
    or {one.type, other.type}
    in [
        {"byte", "long"},
        {"integer", "long"},
        {"float", "double"},
        {"integer", "double"},
        {"integer", "decimal(9,2)"},
        {"date", "timestamp"},
        {"date", "timestamp_ntz"},
        {"timestamp", "timestamp_ntz"},
    ]
]
PATTERNS = [
    r"[a-z]+",
    r"[^\n]*",
    r"\d{1,3}",
    r"(?:ab|a)b?",
    r"\w+@\w+[.]\w{2,}",
    r"[0-9A-F]{2}",
    "",
]
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_MICROS = 86_400_000_000


def _single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]  # type: ignore[no-any-return]


def _decimal(units: int, scale: int) -> Decimal:
    """Exact, whatever the precision of the context."""
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -scale))


def values(data_type: str) -> st.SearchStrategy[Any]:
    """Few and telling values: collisions are wanted, and so are the ends of each type."""
    bits = {"byte": 7, "short": 15, "integer": 31, "long": 63}
    if data_type in bits:
        top = 2 ** bits[data_type]
        return st.sampled_from([-top, -2, -1, 0, 1, 2, 3, 10, top - 2, top - 1])
    if data_type == "float":
        described = [
            0.0,
            -0.0,
            0.1,
            1.5,
            16777216.0,
            -3.25,
            float("nan"),
            float("inf"),
            float("-inf"),
        ]
        return st.sampled_from([_single(value) for value in described])
    if data_type == "double":
        odd = [0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 2.0**53 + 2, float("nan")]
        plain = [0.1, 0.2, 0.3, 1.0, -7.5, 1e15, 123456.789, float("inf"), float("-inf")]
        return st.sampled_from(odd + plain)
    if size := decimal_size(data_type):
        top = 10 ** size[0] - 1
        return st.sampled_from([-top, -1, 0, 1, 150, top]).map(lambda n: _decimal(n, size[1]))
    if data_type == "string":
        described = [
            "",
            " ",
            "a",
            "A",
            "ab",
            "abb",
            "ß",
            "é",
            "e\u0301",
            "💥",
            "\U0010ffff",
            "\uffff",
        ]
        odd = ["007", "12", "1234", "x@y.de", "FF", "a\nb", "a\u2028", "it's", "$p0", "\\", "\x00"]
        return st.sampled_from(described + odd)
    if data_type == "boolean":
        return st.booleans()
    if data_type == "date":
        return st.sampled_from([_FIRST_DAY, -1, 0, 1, 15_706, _LAST_DAY])
    ends = [_FIRST_DAY * _MICROS, (_LAST_DAY + 1) * _MICROS - 1]
    return st.sampled_from([*ends, -1, 0, 1, _MICROS, 1_356_998_400_123_456])


def rows(most: int = 9) -> st.SearchStrategy[list[dict[str, Any]]]:
    one = {c.name: st.none() | values(c.type) for c in SCHEMA.columns}
    return st.lists(st.fixed_dictionaries(one), max_size=most)


def conditions(depth: int = 2) -> st.SearchStrategy[Condition]:
    leaf = st.one_of(_compare_literal(), _compare_columns(), _nulls(), _nans(), _sets(), _texts())
    if depth == 0:
        return leaf
    inner = conditions(depth - 1)
    several = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        leaf,
        inner.map(lambda item: Not(item=item)),
        several.map(lambda items: And(items=items)),
        several.map(lambda items: Or(items=items)),
    )


def measures() -> st.SearchStrategy[Any]:
    where = st.none() | conditions(1)
    keys = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2, unique=True).map(tuple)
    scopes = st.sampled_from(Scope)
    numbers = [column for column in COLUMNS if is_numeric(column.type)]
    extremes = st.sampled_from([AggregateFunction.MIN, AggregateFunction.MAX])
    totals = st.sampled_from([AggregateFunction.SUM, AggregateFunction.MEAN])
    return st.one_of(
        st.builds(RowCount, scope=scopes, where=where),
        st.builds(CountIf, condition=conditions(), where=where),
        st.builds(CountIf, condition=_nulls()),
        st.builds(DuplicateRows, columns=keys, scope=scopes, where=where),
        st.builds(Aggregate, function=extremes, column=st.sampled_from(COLUMNS), where=where),
        st.builds(Aggregate, function=totals, column=st.sampled_from(numbers), where=where),
    )


def _literal(column: ColumnRef) -> st.SearchStrategy[Any]:
    return values(column.type).map(lambda value: to_value(value, column.type))


@st.composite
def _compare_literal(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from(COLUMNS))
    sides = (column, draw(_literal(column)))
    left, right = sides if draw(st.booleans()) else sides[::-1]
    return Compare(op=draw(st.sampled_from(Comparison)), left=left, right=right)


@st.composite
def _compare_columns(draw: st.DrawFn) -> Condition:
    left, right = draw(st.sampled_from(ALIKE))
    return Compare(op=draw(st.sampled_from(Comparison)), left=left, right=right)


def _nulls() -> st.SearchStrategy[Condition]:
    return st.sampled_from(COLUMNS).map(lambda column: IsNull(of=column))


def _nans() -> st.SearchStrategy[Condition]:
    floats = [column for column in COLUMNS if column.type in FLOATS]
    return st.sampled_from(floats).map(lambda column: IsNan(of=column))


@st.composite
def _sets(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from(COLUMNS))
    return InSet(of=column, values=tuple(draw(st.lists(_literal(column), max_size=3))))


@st.composite
def _texts(draw: st.DrawFn) -> Condition:
    text = next(column for column in COLUMNS if column.type == "string")
    if draw(st.booleans()):
        return Matches(of=text, pattern=draw(st.sampled_from(PATTERNS)))
    length = to_value(draw(st.integers(0, 4)), "integer")
    op = draw(st.sampled_from(Comparison))
    return Compare(op=op, left=Length(of=text), right=length)
