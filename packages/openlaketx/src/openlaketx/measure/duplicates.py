"""Counting the rows of duplicate keys."""

from __future__ import annotations

from lakeguard_sdk.measure import DuplicateRows
from openlaketx.measure.condition_sql import ConditionSql, quoted


def duplicates_query(
    measure: DuplicateRows, sql: ConditionSql, origin: str, touched: str | None = None
) -> str:
    """Every row of every group of equal keys with more than one row; a NULL in a key passes.

    Where only keys of ``touched`` rows can have become duplicates, no other key is looked at.
    The condition filters the count, not the rows: DuckDB leaves out whole row groups by their
    statistics, which know nothing of NaN.
    """
    keys = [quoted(column.name) for column in measure.columns]
    named = ", ".join(keys)
    present = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    if touched is not None:
        some = f"SELECT ({named}) FROM {touched} WHERE {present}"  # noqa: S608 - names are quoted
        present += f" AND ({named}) IN ({some})"
    chosen = "" if measure.where is None else f" FILTER (WHERE {sql.condition(measure.where)})"
    return (
        "SELECT coalesce(sum(rows), 0) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*){chosen} AS rows FROM {origin} WHERE {present}"
        f" GROUP BY {named}) WHERE rows > 1"
    )
