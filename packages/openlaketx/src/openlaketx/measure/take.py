"""Taking all measures of a run: footers first, then one pass, then one query per key."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from lakeguard_sdk import faultpoints
from lakeguard_sdk.measure import AnyMeasure, measure_key
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.duckdb_reader import ENGINE, duckdb_reader
from openlaketx.measure.footer_answers import NoAnswer, answer
from openlaketx.measure.how import How
from openlaketx.measure.measured import Measured
from openlaketx.measure.measuring import Measuring
from openlaketx.measure.spark_engine import SparkEngine
from openlaketx.measure.subject import Subject
from openlaketx.measure.watch import Watch


def take_measures(
    measures: Sequence[AnyMeasure],
    subject: Subject,
    how: How | None = None,
    session: SparkSession | None = None,
) -> Measured:
    """Every measure has a value or a reason; none stops another.

    Without a session, DuckDB measures whatever there is.
    """
    measured = Measured(engine=ENGINE)
    how = how or How()
    rest = _what_footers_leave(measures, subject, measured)
    if session is not None and how.with_spark(rest, subject):
        _with_spark(rest, subject, measured, how, session)
    elif rest:
        with duckdb_reader() as reader:
            engine, watch = DuckdbEngine(subject, reader), Watch(how.seconds)
            with watch.running(engine.stop):
                Measuring(engine, measured, watch).take(rest)
    faultpoints.reached("measure.taken")
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
    how: How,
    session: SparkSession,
) -> None:
    engine, watch = SparkEngine(subject, session), Watch(how.seconds)
    measured.engine = engine.name
    with engine.opened(), watch.running(engine.stop):
        Measuring(engine, measured, watch).take(measures)
