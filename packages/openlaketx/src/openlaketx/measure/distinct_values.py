"""The different values of a column, as digests: the values themselves stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from lakeguard_sdk.measure import DistinctValues, MeasureValue
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.forms import Forms
from openlaketx.measure.questions import Valued, chosen_rows, plain_value

_DIGITS = 16


def values_query(
    measure: DistinctValues, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Callable[[Any], MeasureValue]]:
    """One row for each value, and one more than there may be; how to tell a value."""
    of = Valued(forms.quoted(measure.column.name), measure.column.type)
    value, tell = plain_value(of, forms)
    query = (
        f"SELECT lg_value FROM (SELECT {value} AS lg_value,"  # noqa: S608 - names are quoted
        f" count(*){chosen_rows(sql, measure.where)} AS lg_rows FROM {origin}"
        f" WHERE {forms.quoted(measure.column.name)} IS NOT NULL GROUP BY {value})"
        f" WHERE lg_rows > 0 LIMIT {measure.most + 1:d}"
    )
    return query, tell


def digests(
    measure: DistinctValues, tell: Callable[[Any], MeasureValue], found: Sequence[Sequence[Any]]
) -> str:
    """OverflowError where there are more values than may be."""
    if len(found) > measure.most:
        raise OverflowError(f"{measure.column.name} has more than {measure.most:,} values")
    return ",".join(sorted(digest(tell(row[0])) for row in found))


def digest(value: MeasureValue) -> str:
    """Who can guess the value can find it: there is no salt."""
    return sha256(str(value).encode()).hexdigest()[:_DIGITS]
