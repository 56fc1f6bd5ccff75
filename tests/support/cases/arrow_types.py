"""Column types as Arrow has them, and rows for every one of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from lakeguard_sdk.types.plain_types import decimal_size
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)

_PLAIN: dict[str, pa.DataType] = {
    "string": pa.string(), "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(),
    "integer": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"), "binary": pa.binary(),
}  # fmt: skip
_NAIVE = st.datetimes()
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=4), "boolean": st.booleans(), "byte": st.integers(-128, 127),
    "short": st.integers(-(2**15), 2**15 - 1), "integer": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1), "date": st.dates(), "timestamp_ntz": _NAIVE,
    "timestamp": _NAIVE.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    "binary": st.binary(max_size=4), "float": st.floats(allow_nan=False, width=32),
    "double": st.floats(allow_nan=False),
}  # fmt: skip


def arrow_of(found: ColumnType) -> pa.DataType:
    match found:
        case StructOf(fields=fields):
            return pa.struct([(name, arrow_of(part)) for name, part in fields])
        case ArrayOf(element=element):
            return pa.list_(arrow_of(element))
        case MapOf(key=key, value=value):
            return pa.map_(arrow_of(key), arrow_of(value))
        case str():
            size = decimal_size(found)
            return pa.decimal128(*size) if size else _PLAIN[found]


def values_of(found: ColumnType) -> st.SearchStrategy[Any]:
    """Values as Arrow takes them; NULL at every place that may have one."""
    return st.none() | _given(found)


def _given(found: ColumnType) -> st.SearchStrategy[Any]:
    match found:
        case StructOf(fields=fields):
            return st.fixed_dictionaries({name: values_of(part) for name, part in fields})
        case ArrayOf(element=element):
            return st.lists(values_of(element), max_size=3)
        case MapOf(key=key, value=value):
            entries = st.tuples(_given(key), values_of(value))
            return st.lists(entries, max_size=3, unique_by=lambda entry: repr(entry[0]))
        case str():
            return _VALUES[found] if found in _VALUES else _decimals(found)


def _decimals(found: str) -> st.SearchStrategy[Decimal]:
    precision, scale = decimal_size(found) or (1, 0)
    digits = st.integers(-(10**precision) + 1, 10**precision - 1)
    return digits.map(lambda whole: Decimal(f"{whole}E-{scale}"))
