"""Keys: rows of duplicates, different keys, and keys that another dataset has."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.expression import ColumnRef
from lakeguard_sdk.measure import DistinctCount, DuplicateRows, MostCommonRows, UnmatchedRows
from lakeguard_sdk.schema import TableSchema
from openlaketx.measure.comparison_types import common_type
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.forms import Forms
from openlaketx.measure.questions import chosen_rows


def duplicates_query(
    measure: DuplicateRows,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    touched: str | None = None,
) -> str:
    """Every row of every group of equal keys with more than one row; a NULL in a key passes.

    Where only keys of ``touched`` rows can have become duplicates, no other key is looked at.
    """
    named, present = _keys(measure.columns, forms)
    if touched is not None:
        some = f"SELECT {named} FROM {touched} WHERE {present}"  # noqa: S608 - names are quoted
        present += f" AND ({named}) IN ({some})"
    chosen = chosen_rows(sql, measure.where)
    return (
        "SELECT coalesce(sum(found), 0) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS found FROM {origin} WHERE {present}"
        f" GROUP BY {named}) WHERE found > 1"
    )


def distinct_query(measure: DistinctCount, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """Different keys among the chosen rows; a key with a NULL in it is none."""
    named, present = _keys(measure.columns, forms)
    chosen = chosen_rows(sql, measure.where)
    return (
        "SELECT count(*) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS found FROM {origin} WHERE {present}"
        f" GROUP BY {named}) WHERE found > 0"
    )


def most_common_query(measure: MostCommonRows, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """Chosen rows of the key that most of them have."""
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
    """Chosen rows whose key the reference does not have, or has; ValueError where a key cannot be
    compared alike in every engine."""
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
    return (
        "SELECT count(*) FILTER (WHERE lg_chosen) FROM ("  # noqa: S608 - names are quoted
        f"SELECT coalesce({chosen}, FALSE) AS lg_chosen, {', '.join(held)}"
        f" FROM {origin} WHERE {present}) AS lg_r"
        f" WHERE {exists} (SELECT 1 FROM (SELECT {', '.join(sought)} FROM {other}) AS lg_o"
        f" WHERE {match})"
    )


def _keys(columns: Sequence[ColumnRef], forms: Forms) -> tuple[str, str]:
    keys = [forms.quoted(column.name) for column in columns]
    return ", ".join(keys), " AND ".join(f"{key} IS NOT NULL" for key in keys)
