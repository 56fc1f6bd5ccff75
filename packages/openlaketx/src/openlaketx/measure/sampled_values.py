"""Distinct values, the same ones each time, and how many of them hold a pattern."""

from __future__ import annotations

from lakeguard_sdk.expression import Matches
from lakeguard_sdk.measure import SampleMatches
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.forms import Forms


def sample_query(measure: SampleMatches, sql: ConditionSql, forms: Forms, origin: str) -> str:
    """One number of values. By their MD5, which every engine works out alike, they come in an
    order that has nothing to do with what they say or where they stand."""
    value = forms.quoted(measure.column.name)
    anywhere = f"[\\d\\D]*(?:{measure.pattern})[\\d\\D]*"
    found = sql.condition(Matches(of=measure.column, pattern=anywhere))
    chosen = "" if measure.where is None else f" AND {sql.condition(measure.where)}"
    distinct = f"SELECT DISTINCT {value} FROM {origin} WHERE {value} IS NOT NULL{chosen}"  # noqa: S608
    sample = f"SELECT {value} FROM ({distinct}) ORDER BY md5({value}), {value}"  # noqa: S608
    return f"SELECT count(*) FILTER (WHERE {found}) FROM ({sample} LIMIT {measure.sample})"  # noqa: S608 - names are quoted, patterns bound
