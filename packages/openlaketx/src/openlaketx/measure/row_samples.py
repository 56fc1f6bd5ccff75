"""Samples of failing rows: key and rule columns as text, without private columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.conditions import ColumnRef, FieldRef
from lakeguard_sdk.expressions.measures import AnyMeasure, MeasureValue
from lakeguard_sdk.model.row_sample import LONGEST_TEXT, MASKED, RowSample
from lakeguard_sdk.types.schema import TIMES, TableSchema, is_numeric
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.engine_choice import MeasureOptions
from openlaketx.measure.failing_rows import failing_rows
from openlaketx.measure.runner import MeasuringEngine
from openlaketx.measure.spark_engine import SparkEngine
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.aggregates import Valued, plain_value
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.subject import Subject
from openlaketx.measure.time_limit import TimeLimit, TimeLimitExceeded
from openlaketx.measure.timed_engine import TimedEngine

Named = ColumnRef | FieldRef
_NO_DAY = "beyond the calendar"


@dataclass(frozen=True)
class SampleRequest:
    """What to sample: for each rule the measure that counted its rows, the key columns of the
    table, and the private columns that are never shown."""

    counted: Mapping[str, AnyMeasure]
    keys: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


def draw_samples(
    request: SampleRequest,
    subject: Subject,
    options: MeasureOptions,
    seconds: float,
    session: SparkSession | None = None,
) -> tuple[RowSample, ...]:
    """One sample for each rule with failing rows, as far as the time limit allows.

    A rule that cannot be sampled is left out: samples are optional.
    """
    with_spark = session is not None and options.with_spark(request.counted.values(), subject)
    limit = TimeLimit(min(seconds, options.seconds))
    found = []
    with _engine(subject, session if with_spark else None, limit) as engine:
        for rule_id, measure in request.counted.items():
            try:
                found.append(
                    _draw(rule_id, measure, request, subject.schema, TimedEngine(engine, limit))
                )
            except TimeLimitExceeded:
                break
            except Exception:  # noqa: BLE001, S112 - a run never ends by what it cannot show
                continue
    return tuple(sample for sample in found if sample.rows)


@contextmanager
def _engine(
    subject: Subject, session: SparkSession | None, limit: TimeLimit
) -> Iterator[MeasuringEngine]:
    if session is not None:
        spark = SparkEngine(subject, session)
        with spark.opened(), limit.running(spark.stop):
            yield spark
        return
    with duckdb_reader() as reader:
        duck = DuckdbEngine(subject, reader)
        with limit.running(duck.stop):
            yield duck


def _draw(
    rule_id: str,
    measure: AnyMeasure,
    request: SampleRequest,
    schema: TableSchema,
    timed: TimedEngine,
) -> RowSample:
    forms = timed.engine.forms
    sql = ConditionSql(forms.dialect)
    columns = _columns(measure, request.keys, schema)
    hidden = {name.casefold() for name in request.masked}
    masked = [name for name, node in columns.items() if node.name.casefold() in hidden]
    selected = {
        name: _shown_value(node, sql, forms) for name, node in columns.items() if name not in masked
    }
    extra = [f"{value} AS lg_shown_{at}" for at, (value, _) in enumerate(selected.values())]
    rows = failing_rows(measure, timed, sql, extra or ["1 AS lg_shown_0"])
    shown = [dict(zip(selected, row, strict=False)) for row in rows]
    return RowSample(
        rule_id=rule_id,
        columns=tuple(columns),
        rows=tuple(
            tuple(
                MASKED if name in masked else _text(row[name], selected[name][1])
                for name in columns
            )
            for row in shown
        ),
        masked=tuple(masked),
    )


def _columns(measure: AnyMeasure, keys: Iterable[str], schema: TableSchema) -> dict[str, Named]:
    """Key columns, then the columns of the rule, without duplicates."""
    found: dict[str, Named] = {}
    for key in keys:
        found[key] = ColumnRef(name=key, type=str(schema.type_of(key)))
    for node in _named(measure):
        path = node.path if isinstance(node, FieldRef) else ()
        found.setdefault(".".join((node.name, *path)), node)
    return found


def _named(part: object) -> Iterator[Named]:
    if isinstance(part, ColumnRef | FieldRef):
        yield part
    elif isinstance(part, FrozenModel):
        for field in type(part).model_fields:
            yield from _named(getattr(part, field))
    elif isinstance(part, tuple):
        for item in part:
            yield from _named(item)


def _shown_value(
    node: Named, sql: ConditionSql, forms: Forms
) -> tuple[str, Callable[[Any], MeasureValue]]:
    """The value in the format of evidence; long texts are truncated in the query."""
    value, decode = plain_value(Valued(sql.scalar(node), node.type), forms)
    if is_numeric(node.type) or node.type in TIMES:
        return value, decode
    return f"substr({value}, 1, {LONGEST_TEXT + 1})", decode


def _text(value: Any, decode: Callable[[Any], MeasureValue]) -> str | None:
    try:
        decoded = decode(value)
    except OverflowError:
        return _NO_DAY
    if decoded is None:
        return None
    text = decoded if isinstance(decoded, str) else canonical_json(decoded)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
