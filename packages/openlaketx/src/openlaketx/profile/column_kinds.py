"""What can be asked of a column, by its type."""

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
    """How to read one column's values, and how to tell them."""

    value: str
    """SQL of the column's value in a form that is told alike everywhere."""
    tell: Callable[[Any], MeasureValue]
    tag: str
    """What its sketches hold."""
    hashed: str = "value"
    """SQL, over ``value``, of what counts as the same value in sketches."""
    number: str | None = None
    """SQL, over ``value``, of the value as a number; None where it has no place on a line."""
    place: Callable[[float], MeasureValue] = rounded
    """How to tell a place between values."""
    averaged: bool = False
    """Whether a mean of it says something."""
    floating: bool = False
    text: bool = False


def kind_of(column: str, data_type: str) -> Kind | None:
    """None for what is only counted: nested values and bytes."""
    if is_nested(data_type) or data_type == "binary":
        return None
    value, tell = plain_value(Valued(DUCKDB_FORMS.quoted(column), data_type), DUCKDB_FORMS)
    if data_type in INTEGERS:
        place = _whole_place(tell)
        return Kind(
            f"CAST({value} AS BIGINT)", tell, "long", number=_DOUBLE, place=place, averaged=True
        )
    if data_type in FLOATS:
        return Kind(value, tell, "double", number="value", averaged=True, floating=True)
    if decimal_size(data_type):
        text = "CAST(value AS VARCHAR)"
        return Kind(value, tell, data_type, hashed=text, number=_DOUBLE, averaged=True)
    if data_type in TIMES:
        return Kind(value, tell, data_type, number=_DOUBLE, place=_whole_place(tell))
    return Kind(value, tell, data_type, text=data_type == "string")


_DOUBLE = "CAST(value AS DOUBLE)"


def _whole_place(tell: Callable[[Any], MeasureValue]) -> Callable[[float], MeasureValue]:
    """The nearest whole number: doubles hold no more than 53 digits of one."""
    return lambda place: tell(round(place))
