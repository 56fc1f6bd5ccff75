"""The same conditions asked of Python, of DuckDB and of Spark: how often TRUE, how often FALSE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard_sdk.expressions.conditions import (
    Condition,
    Not,
    Scalar,
    type_of,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    MeasureValue,
)
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.measure.duckdb_engine import DUCKDB_FORMS
from openlaketx.measure.spark_engine import SPARK, SPARK_FORMS
from openlaketx.measure.sql.aggregates import Question, ask
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.sql.duckdb_dialect import DUCKDB
from tests.property.measure.every_function import EVERY_CONDITION, EVERY_RULE
from tests.property.measure.expressions import SCHEMA, TYPES, Writer
from tests.property.measure.scalar_oracle import TooManyDigits, scalar, truth
from tests.property.measure.staging import arrow_type
from tests.property.measure.totals import TOO_WIDE, total

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Counts = tuple[int, int]
TOTALS = tuple(word for word in AggregateFunction if word is not AggregateFunction.DEVIATION)


def condition_of(text: str) -> Condition:
    """The condition of ``sql_row``; GrammarError where the text is none."""
    failing = failing_of(f"sql_row({text})")
    assert isinstance(failing, Not)
    return failing.item


def failing_of(rule: str) -> Condition:
    """What holds for the rows that a rule counts."""
    measure = compile_text(rule, SCHEMA).measures[0]
    assert isinstance(measure, CountIf)
    return measure.condition


def every() -> dict[str, Condition]:
    """Every function, operator and row rule."""
    return {text: condition_of(text) for text in EVERY_CONDITION} | {
        rule: failing_of(rule) for rule in EVERY_RULE
    }


def drawn(chance: Random, count: int, depth: int) -> dict[str, Condition]:
    """So many conditions that the gate accepts, by their texts."""
    found: dict[str, Condition] = {}
    writer = Writer(chance)
    while len(found) < count:
        text = writer.condition(depth)
        try:
            found[text] = condition_of(text)
        except GrammarError:
            continue
    return found


def by_python(condition: Condition, rows: Sequence[dict[str, Any]]) -> Counts | None:
    """None where a row has more digits than a decimal."""
    try:
        found = [truth(condition, row) for row in rows]
    except TooManyDigits:
        return None
    return found.count(True), found.count(False)


def value_of(text: str) -> Scalar:
    """A value of rows; GrammarError where the text is none that can be added up."""
    (measure,) = compile_text(f"sql_agg(sum({text}), min=0)", SCHEMA).measures
    assert isinstance(measure, Aggregate)
    return measure.column


def drawn_totals(chance: Random, count: int) -> dict[str, Aggregate]:
    """So many aggregates of values that the gate accepts, by their texts."""
    found: dict[str, Aggregate] = {}
    writer = Writer(chance)
    while len(found) < count:
        text = chance.choice([writer.exact, writer.double])(2)
        function = chance.choice(TOTALS)
        try:
            found[f"{function} {text}"] = Aggregate(function=function, column=value_of(text))
        except GrammarError:
            continue
    return found


def total_by_python(
    measure: Aggregate, rows: Sequence[dict[str, Any]]
) -> tuple[MeasureValue, list[Any]]:
    """The value as evidence would hold it, or that it is too wide, and what it is made of."""
    try:
        values = [scalar(measure.column, row) for row in rows]
    except TooManyDigits:
        return TOO_WIDE, []
    present = [value for value in values if value is not None]
    return total(measure.function, present, type_of(measure.column)), present


def totals_by_duckdb(measures: Sequence[Aggregate], file: Path) -> list[MeasureValue]:
    sql = ConditionSql(DUCKDB)
    asked = [ask(measure, sql, DUCKDB_FORMS) for measure in measures]
    query = f"SELECT {_totals(asked)} FROM read_parquet($files)"
    with duckdb_reader() as reader:
        return _finished(asked, reader.row(query, {**sql.parameters, "files": [str(file)]}))


def totals_by_spark(
    measures: Sequence[Aggregate], view: str, spark: SparkSession
) -> list[MeasureValue]:
    sql = ConditionSql(SPARK)
    asked = [ask(measure, sql, SPARK_FORMS) for measure in measures]
    row = spark.sql(f"SELECT {_totals(asked)} FROM {view}").collect()[0]
    return _finished(asked, tuple(row))


def _totals(asked: Sequence[Question]) -> str:
    texts = [text for question in asked for text in question.expressions]
    return ", ".join(f"{text} AS c{index}" for index, text in enumerate(texts))


def _finished(asked: Sequence[Question], row: tuple[Any, ...]) -> list[MeasureValue]:
    found, at = [], 0
    for question in asked:
        end = at + len(question.expressions)
        found.append(question.finish(row[at:end]))
        at = end
    return found


def by_duckdb(conditions: Sequence[Condition], file: Path) -> list[Counts]:
    sql = ConditionSql(DUCKDB)
    query = f"SELECT {_counts(conditions, sql)} FROM read_parquet($files)"
    with duckdb_reader() as reader:
        return _pairs(reader.row(query, {**sql.parameters, "files": [str(file)]}))


def by_spark(conditions: Sequence[Condition], view: str, spark: SparkSession) -> list[Counts]:
    sql = ConditionSql(SPARK)
    query = f"SELECT {_counts(conditions, sql)} FROM {view}"
    return _pairs(tuple(spark.sql(query).collect()[0]))


def _counts(conditions: Sequence[Condition], sql: ConditionSql) -> str:
    asked = [sql.condition(item) for one in conditions for item in (one, Not(item=one))]
    return ", ".join(
        f"count(*) FILTER (WHERE {text}) AS c{index}" for index, text in enumerate(asked)
    )


def _pairs(row: tuple[Any, ...]) -> list[Counts]:
    return list(zip(row[::2], row[1::2], strict=True))


def write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    columns = {name: _array([row[name] for row in rows], kind) for name, kind in TYPES.items()}
    pq.write_table(pa.table(columns), file, row_group_size=50, store_decimal_as_integer=True)


def _array(values: list[Any], data_type: str) -> pa.Array:
    if data_type in ("timestamp", "timestamp_ntz"):
        return pa.array(values, pa.int64()).cast(arrow_type(data_type))
    if data_type == "date":
        return pa.array(values, pa.int32()).cast(pa.date32())
    return pa.array(values, arrow_type(data_type))
