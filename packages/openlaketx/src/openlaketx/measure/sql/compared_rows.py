"""Compares the rows of a table with those of another dataset."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.expressions.measures import ComparedPart, ComparedRows
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.measure.sql.aggregate_sql import Forms, FoundRows
from openlaketx.measure.sql.comparison_types import common_type


def compared_query(
    measure: ComparedRows, forms: Forms, origin: str, reference: tuple[str, TableSchema]
) -> str:
    """One row count; ValueError if a column cannot be compared exactly in every engine, or if the
    other dataset has columns that the comparison would ignore.

    Rows count +1 on one side and -1 on the other, so that equal rows cancel out.
    """
    other, schema = reference
    if measure.part is ComparedPart.ALL:
        return (
            f"SELECT (SELECT count(*) FROM {origin})"  # noqa: S608 - places of files are bound
            f" + (SELECT count(*) FROM {other})"
        )
    held, sought = _values(measure, forms, schema)
    both = _both_sides(held, sought, origin, other)
    return (
        "SELECT coalesce(sum(abs(lg_more)), 0) FROM ("  # noqa: S608 - as above
        f"SELECT sum(lg_side) AS lg_more FROM ({both}) GROUP BY {_names(held)})"
    )


def surplus_rows(
    measure: ComparedRows,
    forms: Forms,
    origin: str,
    reference: tuple[str, TableSchema],
    extra: Sequence[str],
) -> FoundRows:
    """Rows of the table that the other dataset lacks, with multiplicity, and the ``extra`` columns.

    Rows that only the other dataset has are not returned.
    """
    held, sought = _values(measure, forms, reference[1])
    nothing = [f"NULL AS lg_shown_{at}" for at in range(len(extra))]
    both = _both_sides([*held, *extra], [*sought, *nothing], origin, reference[0])
    alike = f"PARTITION BY {_names(held)}"
    source = (
        f"SELECT *, sum(lg_side) OVER ({alike}) AS lg_more,"  # noqa: S608 - names are quoted
        f" row_number() OVER ({alike}, lg_side ORDER BY lg_side) AS lg_place FROM ({both})"
    )
    return FoundRows(f"({source})", "lg_side = 1 AND lg_place <= lg_more", _names(held))


def _values(
    measure: ComparedRows, forms: Forms, schema: TableSchema
) -> tuple[list[str], list[str]]:
    """The compared columns of both sides."""
    names = _sought(measure, schema)
    held, sought = [], []
    for index, (column, name) in enumerate(zip(measure.columns, names, strict=True)):
        data_type = schema.type_of(name)
        if data_type is None:
            raise ValueError(f"{measure.dataset} has no column {name}")
        shared = common_type(column.type, data_type)
        held.append(f"{_in_type(column.name, shared, forms)} AS lg_value_{index}")
        sought.append(f"{_in_type(name, shared, forms)} AS lg_value_{index}")
    return held, sought


def _both_sides(held: Sequence[str], sought: Sequence[str], origin: str, other: str) -> str:
    return (
        f"SELECT {', '.join(held)}, 1 AS lg_side FROM {origin}"  # noqa: S608 - names are quoted
        f" UNION ALL SELECT {', '.join(sought)}, -1 AS lg_side FROM {other}"
    )


def _names(held: Sequence[str]) -> str:
    return ", ".join(f"lg_value_{index}" for index in range(len(held)))


def _sought(measure: ComparedRows, schema: TableSchema) -> tuple[str, ...]:
    """The other dataset's columns; for whole rows, the names on both sides must be the same."""
    if measure.to:
        return measure.to
    own = tuple(column.name for column in measure.columns)
    more = [name for name in schema.names if name not in own]
    if more:
        extra = ", ".join(more)
        raise ValueError(
            f"{measure.dataset} also has {extra}, and whole rows are compared: name the columns"
            " in the rule"
        )
    return own


def _in_type(name: str, data_type: str, forms: Forms) -> str:
    """The value in the common type; -0.0 becomes 0.0."""
    value = forms.dialect.cast(forms.quoted(name), data_type)
    return f"{value} + 0e0" if data_type == "double" else value
