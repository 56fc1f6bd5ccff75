"""Takes all measures of a run: Parquet footers first, then one scan, then one query per key."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import ColumnRef, IsNull
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    AnyMeasure,
    CountIf,
    MeasureValue,
    RowCount,
    measure_key,
)
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.types.schema import INTEGERS, TableSchema
from openlaketx.engine.duckdb_reader import ENGINE, duckdb_reader
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.engine_choice import MeasureOptions
from openlaketx.measure.result import Measured
from openlaketx.measure.runner import MeasureRunner
from openlaketx.measure.spark_engine import SparkEngine
from openlaketx.measure.sql.value_text import (
    day,
    instant,
    local_instant,
    whole,
)
from openlaketx.measure.subject import Subject
from openlaketx.measure.time_limit import TimeLimit
from openlaketx.stage.candidate import Candidate
from openlaketx.stage.footer_ranges import column_range, leaf_indexes

# Answers from Parquet footers, without reading rows: row counts, NULL counts, and minimum and
# maximum of integers, dates and times.

_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)
_READERS = {
    **dict.fromkeys(INTEGERS, whole),
    "date": day,
    "timestamp": instant,
    "timestamp_ntz": local_instant,
}


class NoAnswer(Exception):
    """The footers do not prove an answer, so the rows must be read."""


def answer(
    measure: AnyMeasure, candidate: Candidate, schema: TableSchema, table_rows: int
) -> MeasureValue:
    """The exact value; ``NoAnswer`` also where the footers were not read."""
    if len(candidate.footers) != len(candidate.files):
        raise NoAnswer
    match measure:
        case RowCount(where=None, scope=scope):
            return whole(table_rows if scope is Scope.TABLE else candidate.rows)
        case CountIf(condition=IsNull(of=ColumnRef() as ref), where=None):
            nulls = column_range(candidate.footers, _place(ref.name, schema), raw=True).nulls
            if nulls is not None:
                return nulls
        case Aggregate(function=function, column=ColumnRef() as ref, where=None):
            if function in _EXTREMES and ref.type in _READERS:
                return _extreme(function, ref, candidate, schema)
    raise NoAnswer


def _extreme(
    function: AggregateFunction, column: ColumnRef, candidate: Candidate, schema: TableSchema
) -> MeasureValue:
    found = column_range(candidate.footers, _place(column.name, schema), raw=True)
    if not found.bounded:
        raise NoAnswer
    value = found.lowest if function is AggregateFunction.MIN else found.highest
    return _READERS[column.type](value)


def _place(name: str, schema: TableSchema) -> int:
    place = leaf_indexes(schema).get(name)
    if place is None:
        raise NoAnswer
    return place


def take_measures(
    measures: Sequence[AnyMeasure],
    subject: Subject,
    options: MeasureOptions | None = None,
    session: SparkSession | None = None,
) -> Measured:
    """Every measure gets a value or a reason; a failing measure stops no other.

    Without a session, DuckDB takes all measures.
    """
    measured = Measured(engine=ENGINE)
    options = options or MeasureOptions()
    rest = _what_footers_leave(measures, subject, measured)
    if session is not None and options.with_spark(rest, subject):
        _with_spark(rest, subject, measured, options, session)
    elif rest:
        with duckdb_reader() as reader:
            engine, limit = DuckdbEngine(subject, reader), TimeLimit(options.seconds)
            with limit.running(engine.stop):
                MeasureRunner(engine, measured, limit).take(rest)
    fault_points.reached("measure.taken")
    return measured


def _what_footers_leave(
    measures: Sequence[AnyMeasure], subject: Subject, measured: Measured
) -> list[AnyMeasure]:
    rest = []
    for measure in measures:
        try:
            measured.values[measure_key(measure)] = answer(
                measure, subject.batch, subject.schema, subject.table_rows
            )
        except NoAnswer:
            rest.append(measure)
        except (OverflowError, ValueError) as error:
            measured.unmeasured[measure_key(measure)] = str(error)
    return rest


def _with_spark(
    measures: Sequence[AnyMeasure],
    subject: Subject,
    measured: Measured,
    options: MeasureOptions,
    session: SparkSession,
) -> None:
    engine, limit = SparkEngine(subject, session), TimeLimit(options.seconds)
    measured.engine = engine.name
    with engine.opened(), limit.running(engine.stop):
        MeasureRunner(engine, measured, limit).take(measures)
