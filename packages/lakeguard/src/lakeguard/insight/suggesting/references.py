"""Columns that may name rows of another dataset."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.where_tree import column_text
from lakeguard.insight.suggesting.few import NO_SUCH
from lakeguard.insight.suggesting.numbers import limits
from lakeguard.insight.suggesting.seen import Seen
from lakeguard.insight.suggesting.spelling import spelt
from lakeguard.insight.suggesting.suggestion import Draft, one_set
from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.profile import ColumnProfile
from lakeguard_sdk.words import Severity


def references(column: ColumnProfile, seen: Seen) -> Iterator[Draft]:
    """``foreign_key`` to each dataset that has a key of the same name and type."""
    values = seen.rows - column.nulls
    strange = _strange(column.type)
    if not values or strange is None:
        return
    name = column_text(column.column)
    for other in seen.others:
        if (other.column, other.type) == (column.column, column.type):
            yield Draft(
                rule=f"foreign_key({name} -> {other.dataset}({name}))",
                about="reference",
                severity=Severity.FAIL,
                why=f"{other.dataset} has each of {values:,} values as a key",
                support=values,
                strength=0.9,
                mutation=one_set(column, strange),
            )


def _strange(data_type: str) -> MeasureValue:
    """A value that no key has."""
    if data_type == "string":
        return NO_SUCH
    if data_type == "date":
        return "0001-01-01"
    smallest = limits(data_type)[0]
    return None if smallest is None else spelt(smallest, data_type)
