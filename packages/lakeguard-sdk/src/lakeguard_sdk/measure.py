"""Measures: the shared questions that rules compile to, so that many rules read a column once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.expression import ColumnRef, Condition
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.words import Scope

MeasureValue = int | float | str | None
"""Counts are integers; sums and means of doubles are rounded to 12 significant digits; decimals,
integers beyond 2**53, dates and times are text, and so are NaN, Infinity and -Infinity;
the aggregate of no value is None."""


class AggregateFunction(StrEnum):
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    MEAN = "mean"


class RowCount(Noun):
    """Rows in scope: all of them, or those for which ``where`` is TRUE."""

    measure: Literal["row_count"] = "row_count"
    scope: Scope = Scope.BATCH
    where: Condition | None = None


class CountIf(Noun):
    """Rows for which ``condition`` is TRUE, among those for which ``where`` is TRUE."""

    measure: Literal["count_if"] = "count_if"
    condition: Condition
    where: Condition | None = None


class DuplicateRows(Noun):
    """Every row of every group of equal keys with more than one row; keys with a NULL pass."""

    measure: Literal["duplicate_rows"] = "duplicate_rows"
    columns: tuple[ColumnRef, ...]
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class Aggregate(Noun):
    """One value over the non-NULL values; the mean of integers and decimals is a double."""

    measure: Literal["aggregate"] = "aggregate"
    function: AggregateFunction
    column: ColumnRef
    where: Condition | None = None


Measure = Annotated[RowCount | CountIf | DuplicateRows | Aggregate, Field(discriminator="measure")]


def measure_key(measure: RowCount | CountIf | DuplicateRows | Aggregate) -> str:
    """The name under which evidence holds the measure's value: equal measures share it."""
    return f"{measure.measure}:{measure.content_hash().removeprefix('sha256:')[:16]}"
