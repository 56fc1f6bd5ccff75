"""Measures of one table overlap: they must agree, or the evidence was not measured of that table.

Only contradictions that no table can explain are reported. Messages name columns, never values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeGuard

from lakeguard.gate.evaluation.column_agreement import ColumnMeasures
from lakeguard.gate.rule_types.shares import rows_with
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import ColumnRef, Condition, IsNull, Not
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AnyMeasure,
    CountIf,
    DistinctCount,
    DuplicateRows,
    GroupBreach,
    GroupFaults,
    GroupPart,
    IntervalFaults,
    JsonFaults,
    MeasureValue,
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SampleMatches,
    SequenceGaps,
    UnmatchedRows,
    measure_key,
)

_ROWS = (
    RowCount,
    CountIf,
    DuplicateRows,
    DistinctCount,
    MostCommonRows,
    UnmatchedRows,
    JsonFaults,
    SequenceGaps,
    OutOfOrder,
    IntervalFaults,
    GroupFaults,
    SampleMatches,
)
_KEYED = (DuplicateRows, DistinctCount, MostCommonRows)
Key = tuple[tuple[ColumnRef, ...], Scope, Condition | None]


def disagreements(
    measures: Iterable[AnyMeasure],
    values: Mapping[str, MeasureValue],
    rows: int | None,
    table_rows: int | None,
    *,
    quarantining: bool = False,
) -> list[str]:
    """What the values contradict each other in; empty for values measured of one table.

    ``quarantining``: the values are those of a batch before rows were quarantined. A row that has a
    repeated key only after others were removed is added to their count, so that it may be one.
    """
    known = {
        measure: values[key] for measure in measures if (key := measure_key(measure)) in values
    }
    found = _Measured(known, {Scope.BATCH: rows, Scope.TABLE: table_rows}, quarantining)
    return list(dict.fromkeys(found.problems()))


@dataclass(frozen=True)
class _Measured:
    known: Mapping[AnyMeasure, MeasureValue]
    rows: Mapping[Scope, int | None]
    quarantining: bool

    def problems(self) -> Iterator[str]:
        for measure, value in self.known.items():
            yield from self._count_problems(measure, value)
        for key in self._keys:
            yield from self._key_problems(*key)
        for measures in self._columns:
            yield from measures.problems()
        for whole, part in self._filtered:
            yield from whole.problems_of_part(part)

    # Counts: none is negative or above the rows that it counts among.

    def _count_problems(self, measure: AnyMeasure, value: MeasureValue) -> Iterator[str]:
        if isinstance(measure, GroupBreach):
            if measure.part is GroupPart.WORST:
                return
            scope = measure.of.scope if isinstance(measure.of, RowCount) else Scope.BATCH
        elif isinstance(measure, _ROWS):
            scope = getattr(measure, "scope", Scope.BATCH)
        else:
            return
        most = self.count(RowCount(scope=scope, where=measure.where))
        if most is None:
            most = self.rows[scope]
        if not _is_count(value):
            return  # the rule that needs it is an ERROR of its own
        if value < 0 or (most is not None and value > most):
            yield f"{value:,} rows of {measure.measure} among {most or 0:,}"
        if isinstance(measure, CountIf) and measure.where is None:
            yield from self._same_rows_problems(measure.condition, value)

    def _same_rows_problems(self, condition: Condition, rows: int) -> Iterator[str]:
        """Rows that meet a condition, and those that are not NULL, may be counted in two ways."""
        again = self.known.get(RowCount(where=condition), rows)
        others = self.known.get(RowCount(where=Not(item=condition)))
        whole = self.rows[Scope.BATCH]
        if isinstance(condition, IsNull) and _is_count(others) and whole is not None:
            again = whole - others if again == rows else again
        if again != rows:
            yield "rows that meet the same condition were counted differently"

    def count(self, measure: AnyMeasure) -> int | None:
        """A count, if it was measured."""
        if isinstance(measure, RowCount) and measure.where is None:
            return self.rows[measure.scope]
        value = self.known.get(measure)
        return value if _is_count(value) else None

    def present(
        self, columns: tuple[ColumnRef, ...], scope: Scope, where: Condition | None
    ) -> int | None:
        """Rows without a NULL in the columns."""
        found = self.count(RowCount(scope=scope, where=rows_with(columns, where)))
        if found is not None or scope is not Scope.BATCH or len(columns) != 1:
            return found
        (column,) = columns
        rows = self.count(RowCount(where=where))
        nulls = self.count(CountIf(condition=IsNull(of=column), where=where))
        if rows is not None and nulls is not None:
            return rows - nulls
        return self.count(CountIf(condition=Not(item=IsNull(of=column)), where=where))

    # Keys: distinct ones, rows of repeated ones, rows of the most common one.

    @cached_property
    def _keys(self) -> list[Key]:
        keyed = (measure for measure in self.known if isinstance(measure, _KEYED))
        return list(dict.fromkeys((one.columns, one.scope, one.where) for one in keyed))

    def _key_problems(
        self, columns: tuple[ColumnRef, ...], scope: Scope, where: Condition | None
    ) -> Iterator[str]:
        given: dict[str, Any] = {"columns": columns, "scope": scope, "where": where}
        repeated = None if self.quarantining else self.count(DuplicateRows(**given))
        distinct = self.count(DistinctCount(**given))
        common = self.count(MostCommonRows(**given))
        present = self.present(columns, scope, where)
        name = ", ".join(column.name for column in columns)
        if repeated == 1:
            yield f"{name}: one row has a repeated key, which takes two"
        if repeated is not None and present is not None and repeated > present:
            yield f"{name}: more rows have a repeated key than have a key"
        if distinct is not None and not _keys_fit(distinct, repeated, present):
            yield f"{name}: the number of distinct keys does not fit the rows and repeated keys"
        if common is not None and not _common_fits(common, distinct, repeated, present):
            yield f"{name}: the rows of the most common key do not fit the other counts of keys"

    # Columns: extremes, means, sums, quantiles, and the rows that meet a condition.

    @cached_property
    def _columns(self) -> list[ColumnMeasures]:
        keys: dict[tuple[ColumnRef, Condition | None], None] = {}
        for measure in self.known:
            if isinstance(measure, Aggregate | Quantile) and isinstance(measure.column, ColumnRef):
                keys[measure.column, measure.where] = None
        return [self._column(*key) for key in keys]

    def _column(self, column: ColumnRef, where: Condition | None) -> ColumnMeasures:
        chosen = {m: v for m, v in self.known.items() if m.where == where}
        return ColumnMeasures(
            column=column,
            where=where,
            aggregates={
                m.function: v
                for m, v in chosen.items()
                if isinstance(m, Aggregate) and m.column == column
            },
            quantiles={
                Fraction(m.q): v
                for m, v in chosen.items()
                if isinstance(m, Quantile) and m.column == column
            },
            counted={
                m.condition: v for m, v in chosen.items() if isinstance(m, CountIf) and _is_count(v)
            },
            rows=self.count(RowCount(where=where)),
            present=self.present((column,), Scope.BATCH, where),
            distinct=self.count(DistinctCount(columns=(column,), scope=Scope.BATCH, where=where)),
        )

    @cached_property
    def _filtered(self) -> list[tuple[ColumnMeasures, ColumnMeasures]]:
        """Measures of all rows beside those of some rows, by column."""
        whole = {found.column: found for found in self._columns if found.where is None}
        return [
            (whole[found.column], found)
            for found in self._columns
            if found.where is not None and found.column in whole
        ]


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _keys_fit(distinct: int, repeated: int | None, present: int | None) -> bool:
    """A repeated key takes at least two rows, and every other row is a key of its own."""
    if present is None:
        return True
    if distinct > present or (distinct == 0) != (present == 0):
        return False
    if repeated is None:
        return True
    alone = present - repeated
    return alone + (1 if repeated else 0) <= distinct <= alone + repeated // 2


def _common_fits(
    common: int, distinct: int | None, repeated: int | None, present: int | None
) -> bool:
    fits = True
    if repeated is not None:
        fits &= common <= max(repeated, 1) and (common >= 2) == (repeated >= 2)
    if present is not None:
        fits &= common <= present and (common == 0) == (present == 0)
        if distinct is not None:
            fits &= common * distinct >= present
    return fits
