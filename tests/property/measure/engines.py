"""The same conditions asked of Python, of DuckDB and of Spark: how often TRUE, how often FALSE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard.gate.grammar import GrammarError
from lakeguard.gate.rules import compile_text
from lakeguard_sdk.expression import Condition, Not
from lakeguard_sdk.measure import CountIf
from lakeguard_sdk.schema import decimal_size
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.duckdb_dialect import DUCKDB
from openlaketx.measure.duckdb_reader import duckdb_reader
from openlaketx.measure.spark_dialect import SPARK
from tests.property.measure.every_function import EVERY_CONDITION, EVERY_RULE
from tests.property.measure.expressions import SCHEMA, TYPES, Writer
from tests.property.measure.scalar_oracle import TooManyDigits, truth
from tests.property.measure.staging import ARROW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Counts = tuple[int, int]


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


def by_duckdb(conditions: Sequence[Condition], file: Path) -> list[Counts]:
    sql = ConditionSql(DUCKDB)
    query = f"SELECT {_counts(conditions, sql)} FROM read_parquet($files)"
    with duckdb_reader() as reader:
        return _pairs(reader.row(query, {**sql.parameters, "files": [str(file)]}))


def by_spark(conditions: Sequence[Condition], view: str, spark: SparkSession) -> list[Counts]:
    sql = ConditionSql(SPARK)
    query = f"SELECT {_counts(conditions, sql)} FROM {view}"
    return _pairs(tuple(spark.sql(query, args=sql.parameters).collect()[0]))


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
        return pa.array(values, pa.int64()).cast(_arrow(data_type))
    if data_type == "date":
        return pa.array(values, pa.int32()).cast(pa.date32())
    return pa.array(values, _arrow(data_type))


def _arrow(data_type: str) -> pa.DataType:
    if size := decimal_size(data_type):
        return pa.decimal128(*size)
    if data_type.startswith("array<"):
        return pa.list_(_arrow(data_type.removeprefix("array<").removesuffix(">")))
    if data_type.startswith("map<"):
        return pa.map_(pa.string(), pa.int32())
    if data_type.startswith("struct<"):
        geo = pa.struct([("lat", pa.float64())])
        return pa.struct([("city", pa.string()), ("geo", geo)])
    return ARROW[data_type]
