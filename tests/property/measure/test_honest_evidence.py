"""What is measured of a real table never contradicts itself."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from lakeguard.gate.evaluation.measure_agreement import disagreements
from lakeguard.gate.rule_types.shares import rows_with
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Not,
    Or,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    AnyMeasure,
    CountIf,
    DistinctCount,
    DuplicateRows,
    MostCommonRows,
    Quantile,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS, TIMES, is_numeric
from openlaketx.measure import take_measures
from tests.property.measure.literals import to_value
from tests.property.measure.questions import COLUMNS, SCHEMA, rows, values
from tests.property.measure.staging import staged
from tests.support.examples import examples

ORDERED = [c for c in COLUMNS if is_numeric(c.type) or c.type in TIMES]


def literal(draw: st.DrawFn, column: ColumnRef) -> Any:
    drawn = draw(values(column.type).filter(lambda v: v == v and abs(v) != float("inf")))
    return to_value(drawn, column.type)


@st.composite
def about(draw: st.DrawFn, column: ColumnRef, depth: int = 2) -> Condition:
    """A condition over one column, as rules compile to."""
    kind = draw(st.integers(0, 6 if depth else 3))
    if kind == 0:
        return IsNull(of=column)
    if kind == 1 and column.type in FLOATS:
        return IsNan(of=column)
    if kind == 2:
        listed = tuple({literal(draw, column) for _ in range(draw(st.integers(1, 3)))})
        return InSet(of=column, values=listed)
    if kind <= 3:
        op = draw(st.sampled_from(Comparison))
        return Compare(op=op, left=column, right=literal(draw, column))
    if kind == 4:
        return Not(item=draw(about(column, depth - 1)))
    both = tuple(draw(about(column, depth - 1)) for _ in range(2))
    return And(items=both) if kind == 5 else Or(items=both)


@st.composite
def overlapping(draw: st.DrawFn) -> list[AnyMeasure]:
    """Many measures of one or two columns, of all rows and of some."""
    found: list[AnyMeasure] = [RowCount(), RowCount(scope=Scope.TABLE)]
    for column in draw(st.lists(st.sampled_from(ORDERED), min_size=1, max_size=2, unique=True)):
        for where in (None, draw(about(draw(st.sampled_from(ORDERED))))):
            numeric = is_numeric(column.type)
            functions = list(AggregateFunction) if numeric else list(AggregateFunction)[:2]
            found += [Aggregate(function=f, column=column, where=where) for f in functions]
            quantiles = ("0", "0.25", "0.5", "1") if numeric else ()
            found += [Quantile(q=q, column=column, where=where) for q in quantiles]
            conditions = [draw(about(column)) for _ in range(4)] + [IsNull(of=column)]
            found += [CountIf(condition=one, where=where) for one in conditions]
            found.append(RowCount(where=where))
            for scope in Scope:
                keyed: dict[str, Any] = {"columns": (column,), "scope": scope, "where": where}
                found += [kind(**keyed) for kind in (DistinctCount, DuplicateRows, MostCommonRows)]
                found.append(RowCount(scope=scope, where=rows_with((column,), where)))
    kept = draw(st.sets(st.integers(0, len(found) - 1), max_size=len(found) // 2))
    return list(dict.fromkeys(one for at, one in enumerate(found) if at not in kept))


@given(batch=rows(12), existing=rows(6), measures=overlapping())
@examples(300, quick=40, suppress_health_check=list(HealthCheck))
def test_honest_evidence_never_disagrees(batch: Any, existing: Any, measures: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = staged(Path(folder), batch, existing, SCHEMA)
        measured = take_measures(measures, subject)
    found = disagreements(measures, measured.values, len(batch), len(batch) + len(existing))
    assert found == []
