"""Key measures: duplicates, distinct keys, and keys of another dataset."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import (
    DistinctCount,
    DuplicateRows,
    MostCommonRows,
    UnmatchedRows,
)
from lakeguard_sdk.types.schema import FLOATS, TableSchema
from openlaketx.measure.sql.aggregate_sql import Forms, FoundRows
from openlaketx.measure.sql.aggregates import chosen_rows
from openlaketx.measure.sql.comparison_types import common_type
from openlaketx.measure.sql.condition_sql import ConditionSql


def duplicates_query(
    measure: DuplicateRows,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    touched: str | None = None,
) -> str:
    """All rows of groups with more than one row per key; keys with a NULL are ignored.

    If only keys of ``touched`` rows can be duplicates, other keys are not checked.
    """
    named, present = _looked_at(measure, forms, touched)
    chosen = chosen_rows(sql, measure.where)
    return (
        "SELECT coalesce(sum(found), 0) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS found FROM {origin} WHERE {present}"
        f" GROUP BY {named}) WHERE found > 1"
    )


def duplicate_rows(
    measure: DuplicateRows,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    touched: str | None,
    extra: Sequence[str],
    most: int | None,
    among: str | None = None,
) -> FoundRows:
    """Rows of at most ``most`` of those groups (None: all), with the ``extra`` columns;
    restricted to the rows ``among``, if given."""
    _, present = _looked_at(measure, forms, touched)
    alike = [_alike(column, forms) for column in measure.columns]
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    keys = [f"lg_key_{at}" for at in range(len(measure.columns))]
    held = [
        f"{forms.quoted(column.name)} AS {key}"
        for column, key in zip(measure.columns, keys, strict=True)
    ]
    named, order = ", ".join(alike), ", ".join(keys)
    asked = ", ".join(f"{value} AS {key}" for value, key in zip(alike, keys, strict=True))
    groups = (
        f"SELECT {asked} FROM {origin} WHERE {present} GROUP BY {named}"  # noqa: S608 - quoted
        f" HAVING count(*) FILTER (WHERE {chosen}) > 1"
    )
    if most is not None:
        groups += f" ORDER BY {order} LIMIT {most:d}"
    source = (
        f"(SELECT coalesce({chosen}, FALSE) AS lg_chosen, {', '.join([*held, *extra])}"  # noqa: S608
        f" FROM {among or origin} WHERE ({named}) IN ({groups}))"
    )
    return FoundRows(source, "lg_chosen", order)


def distinct_query(measure: DistinctCount, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """Distinct keys among the selected rows; keys with a NULL are not counted."""
    named, present = _keys(measure.columns, forms)
    chosen = chosen_rows(sql, measure.where)
    return (
        "SELECT count(*) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS found FROM {origin} WHERE {present}"
        f" GROUP BY {named}) WHERE found > 0"
    )


def most_common_query(measure: MostCommonRows, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """Selected rows with the most common key."""
    named, present = _keys(measure.columns, forms)
    chosen = chosen_rows(sql, measure.where)
    return (
        "SELECT coalesce(max(found), 0) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS found FROM {origin} WHERE {present} GROUP BY {named})"
    )


def unmatched_query(
    measure: UnmatchedRows,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    reference: tuple[str, TableSchema],
) -> str:
    """How many selected rows have a key that the reference lacks, or has."""
    return unmatched_rows(measure, sql, forms, origin, reference).counted


def unmatched_rows(
    measure: UnmatchedRows,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    reference: tuple[str, TableSchema],
    extra: Sequence[str] = (),
) -> FoundRows:
    """Those rows, with the ``extra`` columns; ValueError if a key cannot be compared exactly in
    every engine."""
    other, schema = reference
    _, present = _keys(measure.columns, forms)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held, sought = [], []
    for index, (column, name) in enumerate(zip(measure.columns, measure.to, strict=True)):
        data_type = schema.type_of(name)
        if data_type is None:
            raise ValueError(f"{measure.dataset} has no column {name}")
        shared = common_type(column.type, data_type)
        held.append(f"{forms.dialect.cast(forms.quoted(column.name), shared)} AS lg_key_{index}")
        sought.append(f"{forms.dialect.cast(forms.quoted(name), shared)} AS lg_key_{index}")
    match = " AND ".join(f"lg_o.lg_key_{at} = lg_r.lg_key_{at}" for at in range(len(held)))
    exists = "EXISTS" if measure.found else "NOT EXISTS"
    rows = (
        f"(SELECT coalesce({chosen}, FALSE) AS lg_chosen, {', '.join([*held, *extra])}"  # noqa: S608
        f" FROM {origin} WHERE {present}) AS lg_r"
    )
    there = f"SELECT 1 FROM (SELECT {', '.join(sought)} FROM {other}) AS lg_o WHERE {match}"  # noqa: S608
    return FoundRows(f"(SELECT * FROM {rows} WHERE {exists} ({there}))", "lg_chosen")  # noqa: S608


def _alike(column: ColumnRef, forms: Forms) -> str:
    """The key in a form that disables row-group skipping for floats: the statistics ignore NaN."""
    key = forms.quoted(column.name)
    return f"{key} + 0" if column.type in FLOATS else key


def _looked_at(measure: DuplicateRows, forms: Forms, touched: str | None) -> tuple[str, str]:
    """The key, and the rows that can have duplicates."""
    named, present = _keys(measure.columns, forms)
    if touched is not None:
        some = f"SELECT {named} FROM {touched} WHERE {present}"  # noqa: S608 - names are quoted
        present += f" AND ({named}) IN ({some})"
    return named, present


def _keys(columns: Sequence[ColumnRef], forms: Forms) -> tuple[str, str]:
    keys = [forms.quoted(column.name) for column in columns]
    return ", ".join(keys), " AND ".join(f"{key} IS NOT NULL" for key in keys)
