"""The rows of a table beside those of another dataset."""

from __future__ import annotations

from lakeguard_sdk.measure import ComparedPart, ComparedRows
from lakeguard_sdk.schema import TableSchema
from openlaketx.measure.comparison_types import common_type
from openlaketx.measure.forms import Forms


def compared_query(
    measure: ComparedRows, forms: Forms, origin: str, reference: tuple[str, TableSchema]
) -> str:
    """One number of rows; ValueError where a column cannot be compared alike in every engine.

    Each row counts up on one side and down on the other, so that what both have comes to nothing.
    """
    other, schema = reference
    held, sought = [], []
    for index, (column, name) in enumerate(zip(measure.columns, measure.to, strict=True)):
        data_type = schema.type_of(name)
        if data_type is None:
            raise ValueError(f"{measure.dataset} has no column {name}")
        shared = common_type(column.type, data_type)
        held.append(f"{_in_type(column.name, shared, forms)} AS lg_value_{index}")
        sought.append(f"{_in_type(name, shared, forms)} AS lg_value_{index}")
    both = (
        f"SELECT {', '.join(held)}, 1 AS lg_side FROM {origin}"  # noqa: S608 - names are quoted
        f" UNION ALL SELECT {', '.join(sought)}, -1 AS lg_side FROM {other}"
    )
    if measure.part is ComparedPart.ALL:
        return f"SELECT count(*) FROM ({both})"  # noqa: S608 - as above
    values = ", ".join(f"lg_value_{index}" for index in range(len(held)))
    return (
        "SELECT coalesce(sum(abs(lg_more)), 0) FROM ("  # noqa: S608 - as above
        f"SELECT sum(lg_side) AS lg_more FROM ({both}) GROUP BY {values})"
    )


def _in_type(name: str, data_type: str, forms: Forms) -> str:
    """The value in a type that both sides have; -0.0 is 0.0."""
    value = forms.dialect.cast(forms.quoted(name), data_type)
    return f"{value} + 0e0" if data_type == "double" else value
