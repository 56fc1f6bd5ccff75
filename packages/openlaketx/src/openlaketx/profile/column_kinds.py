"""Which statistics a column has, by its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    TIMES,
    decimal_size,
    is_nested,
)
from openlaketx.measure.duckdb_engine import DUCKDB_FORMS
from openlaketx.measure.sql.aggregates import Valued, plain_value
from openlaketx.measure.sql.value_text import rounded


@dataclass(frozen=True)
class Kind:
    """How to read the values of a column, and how to format them."""

    value: str
    """SQL of the column's value in a form that is formatted alike everywhere."""
    decode: Callable[[Any], MeasureValue]
    tag: str
    """The type tag of its sketches."""
    hashed: str = "value"
    """SQL, over ``value``, that is equal for equal values in sketches."""
    number: str | None = None
    """SQL, over ``value``, of the value as a number; None if it has none."""
    place: Callable[[float], MeasureValue] = rounded
    """Formats a quantile."""
    averaged: bool = False
    """Whether its mean is meaningful."""
    floating: bool = False
    text: bool = False


def kind_of(column: str, data_type: str) -> Kind | None:
    """None for nested values and bytes, which are only counted."""
    if is_nested(data_type) or data_type == "binary":
        return None
    value, decode = plain_value(Valued(DUCKDB_FORMS.quoted(column), data_type), DUCKDB_FORMS)
    if data_type in INTEGERS:
        place = _whole_place(decode)
        return Kind(
            f"CAST({value} AS BIGINT)", decode, "long", number=_DOUBLE, place=place, averaged=True
        )
    if data_type in FLOATS:
        return Kind(value, decode, "double", number="value", averaged=True, floating=True)
    if decimal_size(data_type):
        text = "CAST(value AS VARCHAR)"
        return Kind(value, decode, data_type, hashed=text, number=_DOUBLE, averaged=True)
    if data_type in TIMES:
        return Kind(value, decode, data_type, number=_DOUBLE, place=_whole_place(decode))
    return Kind(value, decode, data_type, text=data_type == "string")


_DOUBLE = "CAST(value AS DOUBLE)"


def _whole_place(decode: Callable[[Any], MeasureValue]) -> Callable[[float], MeasureValue]:
    """Rounded to an integer: doubles hold only 53 bits of one."""
    return lambda place: decode(round(place))
