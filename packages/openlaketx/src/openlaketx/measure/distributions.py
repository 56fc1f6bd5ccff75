"""How the values of a column are spread: places with the rows up to each, or frequent values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lakeguard_sdk.canonical import canonical_json
from lakeguard_sdk.measure import Distribution, MeasureValue
from lakeguard_sdk.schema import FLOATS
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.distinct_values import digest
from openlaketx.measure.forms import Forms
from openlaketx.measure.questions import Valued, chosen_rows, plain_value

Tell = Callable[[Any], MeasureValue]


def distribution_query(
    measure: Distribution, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Tell]:
    """The rows that :func:`distribution` makes an answer of, and how to tell a value."""
    name = forms.quoted(measure.column.name)
    value, tell = plain_value(Valued(name, measure.column.type), forms)
    counted = (
        f"SELECT {value} AS lg_value, count(*){chosen_rows(sql, measure.where)} AS lg_rows"  # noqa: S608
        f" FROM {origin} WHERE {name} IS NOT NULL GROUP BY {value}"
    )
    there = "lg_rows > 0"
    if measure.column.type in FLOATS:
        there += f" AND NOT {forms.dialect.is_nan('lg_value')}"
    found = f"SELECT lg_value, lg_rows FROM ({counted}) WHERE {there}"  # noqa: S608
    return (_places if measure.placed else _frequent)(found, measure.most), tell


def _places(counted: str, steps: int) -> str:
    """The least value, and each at which another step of all rows is reached."""
    summed = (
        "SELECT lg_value, lg_rows, sum(lg_rows) OVER (ORDER BY lg_value"  # noqa: S608
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS lg_up_to,"
        f" sum(lg_rows) OVER () AS lg_all FROM ({counted})"
    )
    before, after = (
        f"floor(CAST({rows} AS DECIMAL(38,0)) * {steps:d} / lg_all)"
        for rows in ("(lg_up_to - lg_rows)", "lg_up_to")
    )
    return (
        f"SELECT lg_value, lg_rows, lg_up_to FROM ({summed})"  # noqa: S608
        f" WHERE lg_up_to = lg_rows OR {before} < {after} ORDER BY lg_value"
    )


def _frequent(counted: str, most: int) -> str:
    """Where several have as many rows, those with the lowest MD5: every engine has the same."""
    return (
        "SELECT lg_value, lg_rows, sum(lg_rows) OVER () AS lg_all"  # noqa: S608
        f" FROM ({counted}) ORDER BY lg_rows DESC, md5(lg_value), lg_value LIMIT {most:d}"
    )


def distribution(measure: Distribution, tell: Tell, found: Sequence[Sequence[Any]]) -> str:
    """As evidence holds it: canonical JSON."""
    if measure.placed:
        rows = int(found[-1][2]) if found else 0
        places = [[tell(value), int(up_to) - int(own), int(up_to)] for value, own, up_to in found]
        return canonical_json({"rows": rows, "places": places})
    rows = int(found[0][2]) if found else 0
    values = sorted(([digest(tell(value)), int(own)] for value, own, _ in found), key=_order)
    return canonical_json({"rows": rows, "values": values})


def _order(item: list[Any]) -> tuple[int, str]:
    return -item[1], item[0]
