"""Spark reads from a build's SQL exactly what the registry thinks it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

from lakeguard.registry.sql.sql_builds import check_sql, read_datasets, rewrite_tables
from lakeguard_sdk.core.dataset_name import DatasetName
from openlaketx.engine.spark.errors import SPARK_ERRORS
from tests.support.examples import draws

pytestmark = pytest.mark.spark

X, Y = DatasetName("bronze.x"), DatasetName("silver.y")
VIEWS = {X: "lg_bronze_x", Y: "lg_silver_y"}
RELATION = re.compile(r"'UnresolvedRelation \[([^\]]*)\]")

STARTS = ["select * from bronze.x", "select ", "select a ", "with t as (select 1) select * "]
ENDS = ["", " from bronze.x t", " from bronze.x"]
SCRAPS = [
    *"abxy*,()'\"`\\;@{}$#\n",
    *["select", "where", "from", "as", "group", "by", "order", "having", "limit", "left", "right"],
    *["inner", "outer", "cross", "natural", "using", "on", "window", "qualify", "union", "except"],
    *["intersect", "lateral", "view", "with", "recursive", "table", "join", "semi", "anti", "full"],
    *["all", "distinct", "null", "and", "or", "not", "bronze", "silver", "t", "as parquet"],
    *["bronze.x", "silver.y", "parquet.`/x`", "`t`", "``", "b.c", "x.*", "a.b.c", "1e3", "x'1f'"],
    *["'s'", '"d"', "r'\\'", "'\\''", "r'", 'R"', "''", "e'\\''", "n'a'", "date '2020-01-01'"],
    *["--", "-- c\n", "--\\\n", "/*", "*/", "/* c */", "/**/", "/*/", "/*+ BROADCAST(t) */", "//"],
    *["*/ from parquet.`/x` /*", "' from parquet.`/x` --", "{# #}", "${a}", "|>", "a:b", "a::int"],
    *["(select 1)", "with t as (select * from bronze.x)", "join silver.y on true", "union all"],
    *["lateral view explode(a) z as q", "lateral (select 1)", "values (1)", "range(3)"],
    *["pivot (sum(a) for b in (1))", "tablesample (1 rows)", "version as of 1", "explode(a)"],
    *["exists (select 1 from t)", "in (select a from silver.y)", "identifier('t')", "a > 1"],
    *["order by 1", "limit 1", "group by all", "window w as (partition by a)", "using (a)"],
    *["case when a then b end", "cast(a as int)", "over (partition by a)", "filter (where a)"],
]  # fmt: skip


def texts(chance: Random, count: int) -> Iterator[str]:
    for _ in range(count):
        scraps = [chance.choice(SCRAPS) for _ in range(chance.randint(1, 8))]
        blank = chance.choice([" ", " ", "\n", ""])
        yield chance.choice(STARTS) + blank + blank.join(scraps) + chance.choice(ENDS)


def relations(spark: SparkSession, text: str) -> set[str] | None:
    """Tables that Spark's parser would resolve; None for invalid SQL."""
    try:
        plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(text)
    except SPARK_ERRORS:
        return None
    return {found.replace(", ", ".") for found in RELATION.findall(plan.toString())}


def agreements(spark: SparkSession, chance: Random, count: int) -> int:
    """Number of texts that both parsers accept; both must agree on each."""
    agreed = 0
    for text in texts(chance, count):
        if check_sql(text, frozenset(VIEWS)):
            continue
        looked_up = relations(spark, text)
        if looked_up is None:
            continue
        agreed += 1
        known = read_datasets(text)
        assert known <= looked_up, text
        assert {name.lower() for name in looked_up - known} <= {"t"}, text
        again = relations(spark, rewrite_tables(text, VIEWS))
        expected = {VIEWS[DatasetName(n)] if n in known else n for n in looked_up}
        assert again == expected, text
    return agreed


def test_what_both_can_read_means_the_same_to_both(spark: SparkSession) -> None:
    drawn = draws(40_000, quick=4_000)
    assert agreements(spark, Random(20260131), drawn) > drawn / 50
