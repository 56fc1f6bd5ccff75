"""Ordered rows: gaps, values out of order, overlapping intervals and gaps between intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import (
    IntervalFault,
    IntervalFaults,
    OutOfOrder,
    SequenceGaps,
)
from lakeguard_sdk.types.schema import FLOATS, INTEGERS
from openlaketx.measure.sql.aggregate_sql import Forms, FoundRows
from openlaketx.measure.sql.condition_sql import ConditionSql

_EARLIER = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"


@dataclass(frozen=True)
class _Sequence:
    """``values`` are per row; ``windows`` range over the rows before it in ``order``."""

    present: tuple[ColumnRef, ...]
    values: Mapping[str, str]
    order: str
    windows: Mapping[str, tuple[str, str]]
    """An aggregate, and its window frame."""
    failing: str


def sequence_query(
    measure: SequenceGaps | OutOfOrder | IntervalFaults,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
) -> str:
    """One row count."""
    return sequence_rows(measure, sql, forms, origin).counted


def sequence_rows(
    measure: SequenceGaps | OutOfOrder | IntervalFaults,
    sql: ConditionSql,
    forms: Forms,
    origin: str,
    extra: Sequence[str] = (),
) -> FoundRows:
    """Those rows, with the ``extra`` columns; ValueError if engines do not order a column alike.

    Rows are filtered after the window.
    """
    asked = _sequence(measure, forms)
    groups = {f"lg_by_{at}": forms.quoted(column.name) for at, column in enumerate(measure.by)}
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = {"lg_chosen": f"coalesce({chosen}, FALSE)", **groups, **asked.values}
    inner = ", ".join([*(f"{value} AS {name}" for name, value in held.items()), *extra])
    partition = ", ".join(["lg_chosen", *groups])
    outer = ", ".join(
        f"{value} OVER (PARTITION BY {partition} ORDER BY {asked.order} {frame}) AS {name}"
        for name, (value, frame) in asked.windows.items()
    )
    present = " AND ".join(f"{forms.quoted(column.name)} IS NOT NULL" for column in asked.present)
    rows = f"SELECT {inner} FROM {origin} WHERE {present}"  # noqa: S608 - names are quoted
    source = f"(SELECT *, {outer} FROM ({rows}))"  # noqa: S608
    return FoundRows(source, f"lg_chosen AND {asked.failing}", f"{partition}, {asked.order}")


def _sequence(measure: SequenceGaps | OutOfOrder | IntervalFaults, forms: Forms) -> _Sequence:
    match measure:
        case SequenceGaps(column=column, step=step):
            return _Sequence(
                present=(column,),
                values={"lg_value": _place(column, forms)},
                order="lg_value",
                windows={"lg_before": ("lag(lg_value)", "")},
                failing=f"lg_value - lg_before > {step:d}",
            )
        case OutOfOrder(column=column, along=along, descending=descending, strict=strict):
            beyond = (">" if descending else "<") + ("=" if strict else "")
            return _Sequence(
                present=(column, along),
                values={"lg_value": _ordered(column, forms), "lg_along": _ordered(along, forms)},
                order=f"lg_along, lg_value {'DESC' if descending else 'ASC'}",
                windows={"lg_before": ("lag(lg_value)", "")},
                failing=f"lg_value {beyond} lg_before",
            )
        case IntervalFaults(start=start, end=end, fault=fault):
            overlap = "(lg_open = 1 OR lg_value < lg_latest)"
            gap = "(lg_open = 0 AND lg_value > lg_latest)"
            return _Sequence(
                present=(start,),
                values={"lg_value": _place(start, forms), "lg_end": _place(end, forms)},
                order="lg_value, lg_end NULLS LAST",
                windows={
                    "lg_latest": ("max(lg_end)", _EARLIER),
                    "lg_open": ("max(CASE WHEN lg_end IS NULL THEN 1 ELSE 0 END)", _EARLIER),
                },
                failing=overlap if fault is IntervalFault.OVERLAP else gap,
            )


def _place(column: ColumnRef, forms: Forms) -> str:
    """The value as a number that can be subtracted."""
    name = forms.quoted(column.name)
    if column.type in INTEGERS:
        return f"CAST({name} AS DECIMAL(20,0))"
    if column.type == "date":
        return forms.days(name)
    if column.type in ("timestamp", "timestamp_ntz"):
        return forms.micros(name)
    raise ValueError(f"values of type {column.type} cannot be subtracted")


def _ordered(column: ColumnRef, forms: Forms) -> str:
    """An expression with the order of the values; -0.0 equals 0.0, NaN is the greatest."""
    if column.type in ("boolean", "binary"):
        raise ValueError(f"values of type {column.type} are not ordered")
    name = forms.quoted(column.name)
    return f"CAST({name} AS DOUBLE) + 0e0" if column.type in FLOATS else name
