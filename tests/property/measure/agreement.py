"""What the oracle expects of a measure of groups, keys or sequences, and when two agree."""

from __future__ import annotations

import math
from statistics import stdev
from typing import Any

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctValues,
    GroupBreach,
    GroupFaults,
    MeasureValue,
    Quantile,
)
from openlaketx.measure.sql.value_text import rounded
from tests.property.measure import oracle, sequence_oracle, total_oracle

UNMEASURED = "unmeasured"


def expected_of(question: Any, batch: list[Any], existing: list[Any], others: list[Any]) -> Any:
    """The oracle's answer; ``UNMEASURED`` where there is none to be had."""
    scoped = question.of if isinstance(question, GroupBreach) else question
    table = getattr(scoped, "scope", Scope.BATCH) is Scope.TABLE
    rows = oracle.chosen([*batch, *existing] if table else batch, question.where)
    try:
        match question:
            case Aggregate() | Quantile():
                return value_of(question, rows)
            case GroupFaults():
                return total_oracle.faults(question, rows, _term)
            case GroupBreach(of=of):
                return sequence_oracle.breach(question, rows, lambda group: value_of(of, group))
            case _:
                return sequence_oracle.count(question, rows, others)
    except OverflowError:
        return UNMEASURED


def _term(term: Any, rows: list[Any]) -> MeasureValue:
    if isinstance(term, CountIf):
        return int(oracle.measure(term, rows, rows))
    return value_of(term, rows)


def value_of(question: Any, rows: list[Any]) -> MeasureValue:
    """One value over rows that are chosen already."""
    every = question.model_copy(update={"where": None})
    if isinstance(question, Aggregate) and question.function is not AggregateFunction.DEVIATION:
        value = oracle.measure(every, rows, rows)
        return rounded(value) if isinstance(value, float) else value  # type: ignore[no-any-return]
    if not isinstance(question, Aggregate | Quantile):
        return len(rows)
    present = [row[question.column.name] for row in rows]
    values = [float(value) for value in present if value is not None]
    if not all(math.isfinite(value) for value in values):
        return "NaN"
    if isinstance(question, Quantile):
        return _quantile(sorted(values), float(question.q))
    return rounded(stdev(values)) if len(values) > 1 else None


def _quantile(values: list[float], q: float) -> MeasureValue:
    if not values:
        return None
    at = q * (len(values) - 1)
    low, high = values[math.floor(at)], values[math.ceil(at)]
    return rounded(low + (high - low) * (at - math.floor(at)))


def same_answer(question: Any, found: Any, wanted: Any) -> bool:
    """Counts exactly; deviations and quantiles but for the last digits of a double."""
    if isinstance(question, DistinctValues) and UNMEASURED not in (found, wanted):
        return _size(found) == _size(wanted)
    if isinstance(found, float) and isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == wanted)


def _size(digests: str) -> int:
    return len(digests.split(",")) if digests else 0
