"""Counting the rows of duplicate keys."""

from __future__ import annotations

from lakeguard_sdk.measure import DuplicateRows
from openlaketx.measure.condition_sql import ConditionSql, quoted


def duplicates_query(measure: DuplicateRows, sql: ConditionSql, origin: str) -> str:
    """Every row of every group of equal keys with more than one row; a NULL in a key passes."""
    keys = [quoted(column.name) for column in measure.columns]
    conditions = [f"{key} IS NOT NULL" for key in keys]
    if measure.where is not None:
        conditions.append(sql.condition(measure.where))
    return (
        "SELECT coalesce(sum(rows), 0) FROM ("  # noqa: S608 - names are quoted, literals bound
        f"SELECT count(*) AS rows FROM {origin} WHERE {' AND '.join(conditions)}"
        f" GROUP BY {', '.join(keys)} HAVING count(*) > 1)"
    )
