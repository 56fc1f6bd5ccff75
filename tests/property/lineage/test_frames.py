"""The lineage of generated frames is what their operations say, neither more nor less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from tests.support.examples import examples
from tests.support.lakes.lineage_tables import LineageTables

pytestmark = pytest.mark.spark

Sources = frozenset[str]
Draw = Callable[[st.SearchStrategy[Any]], Any]
_fresh = count()


@dataclass(frozen=True)
class Model:
    """A frame of texts, and what each column is made of by the operations on it."""

    frame: DataFrame
    columns: dict[str, Sources]

    def pick(self, draw: Draw) -> str:
        return str(draw(st.sampled_from(sorted(self.columns))))

    def of(self, *names: str) -> Sources:
        return frozenset().union(*(self.columns[name] for name in names))


def new_name() -> str:
    return f"c{next(_fresh)}"


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> LineageTables:
    return LineageTables(spark.newSession(), tmp_path_factory.mktemp("tables"))


def base(tables: LineageTables, draw: Draw) -> Model:
    """Columns of a table as texts, under fresh names."""
    name = draw(st.sampled_from(["a", "b"]))
    frame = tables.a.drop("xs") if name == "a" else tables.b
    names = {column: new_name() for column in frame.columns}
    chosen = [F.col(column).cast("string").alias(fresh) for column, fresh in names.items()]
    sources = {fresh: frozenset({f"{name}.{column}"}) for column, fresh in names.items()}
    return Model(frame.select(*chosen), sources)


def select(model: Model, draw: Draw, tables: LineageTables) -> Model:
    names = draw(st.lists(st.sampled_from(sorted(model.columns)), min_size=1, unique=True))
    made = {new_name(): name for name in names}
    frame = model.frame.select(*(F.col(name).alias(fresh) for fresh, name in made.items()))
    return Model(frame, {fresh: model.columns[name] for fresh, name in made.items()})


def with_column(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, other, fresh = model.pick(draw), model.pick(draw), new_name()
    kind = draw(st.sampled_from(["both", "case", "constant", "struct"]))
    made = {
        "both": F.concat(F.upper(one), F.lit("-"), F.col(other)),
        "case": F.when(F.col(one) > "1", F.col(other)).otherwise("none"),
        "constant": F.lit("EUR"),
        "struct": F.struct(F.col(one).alias("x"), F.col(other).alias("y")).cast("string"),
    }
    sources = frozenset() if kind == "constant" else model.of(one, other)
    return Model(model.frame.withColumn(fresh, made[kind]), {**model.columns, fresh: sources})


def overwrite(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, other = model.pick(draw), model.pick(draw)
    frame = model.frame.withColumn(one, F.reverse(other))
    return Model(frame, {**model.columns, one: model.columns[other]})


def rename(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, fresh = model.pick(draw), new_name()
    columns = {fresh if name == one else name: made for name, made in model.columns.items()}
    return Model(model.frame.withColumnRenamed(one, fresh), columns)


def drop(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one = model.pick(draw)
    if len(model.columns) == 1:
        return model
    columns = {name: made for name, made in model.columns.items() if name != one}
    return Model(model.frame.drop(one), columns)


def join(model: Model, draw: Draw, tables: LineageTables) -> Model:
    other = base(tables, draw)
    kind = draw(st.sampled_from(["inner", "left", "full", "left_semi", "left_anti"]))
    condition = F.col(model.pick(draw)) == F.col(other.pick(draw))
    added = {} if kind.startswith("left_") else other.columns
    return Model(model.frame.join(other.frame, condition, kind), {**model.columns, **added})


def join_itself(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, other, fresh = model.pick(draw), model.pick(draw), new_name()
    right = model.frame.select(F.col(one).alias(fresh))
    frame = model.frame.join(right, F.col(other) == F.col(fresh))
    return Model(frame, {**model.columns, fresh: model.columns[one]})


def group(model: Model, draw: Draw, tables: LineageTables) -> Model:
    key, other, most, rows = model.pick(draw), model.pick(draw), new_name(), new_name()
    method = draw(st.sampled_from(["groupBy", "rollup", "cube"]))
    grouped = getattr(model.frame, method)(key)
    frame = grouped.agg(F.max(other).alias(most), F.count("*").cast("string").alias(rows))
    columns = {key: model.columns[key], most: model.columns[other], rows: frozenset()}
    return Model(frame, columns)


def union(model: Model, draw: Draw, tables: LineageTables) -> Model:
    names = list(model.columns)
    other = draw(st.permutations(names))
    columns = {name: model.of(name, twin) for name, twin in zip(names, other, strict=True)}
    return Model(model.frame.select(*names).union(model.frame.select(*other)), columns)


def explode(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, other, fresh = model.pick(draw), model.pick(draw), new_name()
    frame = model.frame.withColumn(fresh, F.explode(F.array(one, other)))
    return Model(frame, {**model.columns, fresh: model.of(one, other)})


def window(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, fresh, place = model.pick(draw), new_name(), new_name()
    over = Window.partitionBy(model.pick(draw)).orderBy(model.pick(draw))
    frame = model.frame.withColumn(fresh, F.first(one).over(over))
    frame = frame.withColumn(place, F.row_number().over(over).cast("string"))
    return Model(frame, {**model.columns, fresh: model.columns[one], place: frozenset()})


def rows(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one = model.pick(draw)
    made = {
        "distinct": model.frame.distinct(),
        "filter": model.frame.where(F.col(one) > "1"),
        "first": model.frame.sort(one).limit(2),
        "cache": model.frame.cache(),
        "repartition": model.frame.repartition(2, one),
    }
    return Model(made[draw(st.sampled_from(sorted(made)))], model.columns)


def view(model: Model, draw: Draw, tables: LineageTables) -> Model:
    one, fresh = model.pick(draw), new_name()
    model.frame.createOrReplaceTempView("v")
    text = f"WITH c AS (SELECT *, lower({one}) AS {fresh} FROM v) SELECT * FROM c"
    return Model(tables.spark.sql(text), {**model.columns, fresh: model.columns[one]})


OPERATIONS = (select, with_column, overwrite, rename, drop, join, join_itself, group, union)
OPERATIONS += (explode, window, rows, view)


def _hides_projections(frame: DataFrame) -> bool:
    """Spark does not show the projections of a rollup or cube over a union: its columns are made of
    everything below."""
    java: Any = frame
    plan = java._jdf.queryExecution().analyzed().toString()
    return "Expand" in plan and "Union" in plan


@given(st.data())
@examples(240, quick=20, suppress_health_check=list(HealthCheck))
def test_generated_frames_are_followed_exactly(tables: LineageTables, data: st.DataObject) -> None:
    model = base(tables, data.draw)
    for operation in data.draw(st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=7)):
        model = operation(model, data.draw, tables)
    followed = tables.followed(model.frame)
    if _hides_projections(model.frame):
        assert followed.keys() == model.columns.keys()
        assert all(followed[name] >= made_of for name, made_of in model.columns.items())
    else:
        assert followed == model.columns
