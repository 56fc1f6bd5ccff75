"""Measures that rules compile to, shared so that many rules scan a column once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.aggregates import TotalCondition
from lakeguard_sdk.expressions.conditions import ColumnRef, Condition, Operand
from lakeguard_sdk.types.plain_types import TIMES, is_numeric

MeasureValue = int | float | str | None
"""Counts are integers; sums and means of doubles are rounded to 12 significant digits; decimals,
integers beyond 2**53, dates and times are text, and so are NaN, Infinity and -Infinity;
the aggregate of no value is None."""


class AggregateFunction(StrEnum):
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    MEAN = "mean"
    DEVIATION = "deviation"
    """Sample standard deviation; None for fewer than two values."""


class RowCount(FrozenModel):
    """Rows in scope, or those for which ``where`` is TRUE."""

    measure: Literal["row_count"] = "row_count"
    scope: Scope = Scope.BATCH
    where: Condition | None = None


class CountIf(FrozenModel):
    """Rows for which ``condition`` is TRUE, among those for which ``where`` is TRUE."""

    measure: Literal["count_if"] = "count_if"
    condition: Condition
    where: Condition | None = None


class DuplicateRows(FrozenModel):
    """All rows whose key is not unique; keys with a NULL pass."""

    measure: Literal["duplicate_rows"] = "duplicate_rows"
    columns: tuple[ColumnRef, ...]
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class Aggregate(FrozenModel):
    """One value over the non-NULL values; the mean of integers and decimals is a double.

    Aggregates a column or an expression."""

    measure: Literal["aggregate"] = "aggregate"
    function: AggregateFunction
    column: Operand
    where: Condition | None = None


class Quantile(FrozenModel):
    """The value below which a share ``q`` of the non-NULL values lies, between two of them where
    it must; numbers are taken as doubles."""

    measure: Literal["quantile"] = "quantile"
    q: str
    """A plain decimal between 0 and 1."""
    column: ColumnRef
    where: Condition | None = None


class DistinctCount(FrozenModel):
    """Distinct keys, without keys that contain a NULL."""

    measure: Literal["distinct_count"] = "distinct_count"
    columns: tuple[ColumnRef, ...]
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class MostCommonRows(FrozenModel):
    """Rows with the most common key; 0 if there is none. Keys with a NULL do not count."""

    measure: Literal["most_common_rows"] = "most_common_rows"
    columns: tuple[ColumnRef, ...]
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class DistinctValues(FrozenModel):
    """The distinct values of a column as sorted, comma-separated digests; None if there are more
    than ``most``. No value leaves the data plane."""

    measure: Literal["distinct_values"] = "distinct_values"
    column: ColumnRef
    most: int
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class Distribution(FrozenModel):
    """How the values of a column are spread, as canonical JSON: ``rows`` that have one, and beside
    them what its type allows. NaN is no value here.

    Of numbers and times ``places``: the least value, and each at which another of ``most`` equal
    steps of the rows is reached, with the rows below it and those up to it. Of others ``values``:
    digests of the ``most`` most frequent, with their rows; no value leaves the data plane.
    """

    measure: Literal["distribution"] = "distribution"
    column: ColumnRef
    most: int = 50
    scope: Scope = Scope.TABLE
    where: Condition | None = None

    @property
    def placed(self) -> bool:
        return is_numeric(self.column.type) or self.column.type in TIMES


class UnmatchedRows(FrozenModel):
    """Rows without a matching key in the pinned version of another dataset; with ``found``, rows
    with one. Keys with a NULL are neither."""

    measure: Literal["unmatched_rows"] = "unmatched_rows"
    columns: tuple[ColumnRef, ...]
    dataset: DatasetName
    to: tuple[str, ...]
    """Its columns, in the order of ``columns``."""
    found: bool = False
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class ComparedPart(StrEnum):
    """Rows that occur more often on one side, or all rows of both."""

    DIFFERING = "differing"
    ALL = "all"


class ComparedRows(FrozenModel):
    """The rows of the table beside those of the pinned version of another dataset, as often as
    each has them. NULL equals NULL here, and NaN equals NaN."""

    measure: Literal["compared_rows"] = "compared_rows"
    part: ComparedPart
    columns: tuple[ColumnRef, ...]
    dataset: DatasetName
    to: tuple[str, ...]
    """Its columns, in the order of ``columns``; none where whole rows are compared, and it must
    have those columns and no others."""
    scope: Scope = Scope.TABLE

    @property
    def where(self) -> Condition | None:
        return None


class JsonFaults(FrozenModel):
    """Rows whose text ``json_texts`` cannot read, or whose value is none that it must be: an object
    with every ``required`` key and none but ``allowed`` ones, or a value that fits a schema. NULL
    is no text."""

    measure: Literal["json_faults"] = "json_faults"
    column: ColumnRef
    allowed: tuple[str, ...] | None = None
    required: tuple[str, ...] | None = None
    fits: str | None = None
    """A JSON Schema."""
    where: Condition | None = None


class SequenceGaps(FrozenModel):
    """Rows whose value exceeds the next lower one by more than a step, by group."""

    measure: Literal["sequence_gaps"] = "sequence_gaps"
    column: ColumnRef
    step: int
    """In microseconds for times, in days for dates."""
    by: tuple[ColumnRef, ...] = ()
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class OutOfOrder(FrozenModel):
    """Rows whose value is below (``descending``: above) that of the row before them along another
    column, group by group; with ``strict`` also equal to it. Of rows at the same place the one
    that fits better comes first. Rows with a NULL in either column are left out."""

    measure: Literal["out_of_order"] = "out_of_order"
    column: ColumnRef
    along: ColumnRef
    descending: bool = False
    strict: bool = False
    by: tuple[ColumnRef, ...] = ()
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class IntervalFault(StrEnum):
    OVERLAP = "overlap"
    GAP = "gap"


class IntervalFaults(FrozenModel):
    """Rows that start before (a gap: after) the end of every earlier interval of their group.
    An end that is NULL never comes; a row without a start is left out."""

    measure: Literal["interval_faults"] = "interval_faults"
    fault: IntervalFault
    start: ColumnRef
    end: ColumnRef
    by: tuple[ColumnRef, ...] = ()
    scope: Scope = Scope.TABLE
    where: Condition | None = None


class GroupPart(StrEnum):
    """Rows of failing groups, the number of groups, or the value farthest beyond its bound."""

    ROWS = "rows"
    GROUPS = "groups"
    WORST = "worst"


GroupValue = Annotated[RowCount | Aggregate | Quantile, Field(discriminator="measure")]


class GroupBreach(FrozenModel):
    """Groups whose value is out of bounds or missing; NULL is its own group."""

    measure: Literal["group_breach"] = "group_breach"
    part: GroupPart
    of: GroupValue
    by: tuple[ColumnRef, ...]
    low: str | None = None
    """Both bounds belong to what passes: a plain number, or a date or time as evidence has it."""
    high: str | None = None

    @property
    def where(self) -> Condition | None:
        return self.of.where


GroupTerm = RowCount | CountIf | Aggregate


class GroupFaults(FrozenModel):
    """Rows of groups for which a condition over their ``terms`` is not TRUE; NULL is its own
    group."""

    measure: Literal["group_faults"] = "group_faults"
    terms: tuple[Annotated[GroupTerm, Field(discriminator="measure")], ...]
    condition: TotalCondition
    by: tuple[ColumnRef, ...]
    where: Condition | None = None


SAMPLED_VALUES = 10_000


class SampleMatches(FrozenModel):
    """Of the batch's distinct values, those ``sample`` with the lowest MD5: how many hold the
    pattern anywhere, as stored or in NFKC form. Which values they are does not depend on the order
    of rows."""

    measure: Literal["sample_matches"] = "sample_matches"
    column: ColumnRef
    pattern: str
    sample: int = SAMPLED_VALUES
    where: Condition | None = None


AnyMeasure = (
    RowCount
    | CountIf
    | DuplicateRows
    | Aggregate
    | Quantile
    | DistinctCount
    | MostCommonRows
    | DistinctValues
    | Distribution
    | UnmatchedRows
    | ComparedRows
    | JsonFaults
    | SequenceGaps
    | OutOfOrder
    | IntervalFaults
    | GroupBreach
    | GroupFaults
    | SampleMatches
)
Measure = Annotated[AnyMeasure, Field(discriminator="measure")]


def measure_key(measure: AnyMeasure) -> str:
    """The key of the measure's value in evidence; equal measures share it."""
    return f"{measure.measure}:{measure.content_hash().removeprefix('sha256:')[:16]}"
