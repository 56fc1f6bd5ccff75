"""Our lineage of a SELECT against Spark's analysed plan, over generated queries."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeguard.registry.sql.lineage import column_lineage
from lakeguard.registry.sql.sql_builds import check_columns, check_sql, rewrite_tables
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.spark.session import run_session
from openlaketx.engine.spark.types import spark_schema
from openlaketx.extract.frame_lineage import Reads, frame_lineage
from tests.property.lineage.plan_oracle import ORIGIN, NotShown, Origins, origins_of
from tests.property.lineage.queries import Queries
from tests.property.lineage.query_values import INPUTS
from tests.support.examples import draws

pytestmark = pytest.mark.spark

VIEWS = {DatasetName(name): f"lg_{name.replace('.', '_')}" for name in INPUTS}
SCHEMAS = {
    DatasetName(name): TableSchema(
        columns=tuple(Column(name=column, type=kind) for column, kind in columns.items())
    )
    for name, columns in INPUTS.items()
}
COLUMNS = {name for columns in INPUTS.values() for name in columns}
INPUT_VIEWS = Reads()
for _name, _view in VIEWS.items():
    _pin = InputPin(
        input=InputVersion(dataset=_name, dataset_id=_name, version=1),
        snapshot=TableSnapshot(location=f"/lake/{_name}", table_id=_name, commit=1),
        table_schema=SCHEMAS[_name],
    )
    INPUT_VIEWS.add(_pin, ())
    INPUT_VIEWS.add_input(_pin, _view)
TABLES = {name: KnownTable(tuple(schema.names)) for name, schema in SCHEMAS.items()}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """With a view of each input; its columns carry their origin."""
    child = run_session(spark)
    for name, view in VIEWS.items():
        schema = spark_schema(SCHEMAS[name])
        for field in schema.fields:
            field.metadata = {ORIGIN: f"{name}.{field.name}"}
        child.createDataFrame([], schema).createOrReplaceTempView(view)
    return child


def by_spark(session: SparkSession, text: str) -> dict[str, Origins] | None:
    """Origins by column; None if Spark refuses the SQL, or does not show all of its plan."""
    try:
        found = origins_of(session, rewrite_tables(text, VIEWS, columns=COLUMNS))
    except (AnalysisException, NotShown):
        return None
    result: dict[str, Origins] = {}
    for name, origins in found:
        result[name.casefold()] = result.get(name.casefold(), frozenset()) | origins
    return result


def compared(text: str, truth: dict[str, Origins]) -> bool:
    """Whether every column is exact; none may be said to be made of less than Spark shows, and no
    name of a SELECT that Spark runs to be no column."""
    assert check_columns(text, TABLES) == (), text
    lineage = column_lineage(text, SCHEMAS)
    exact = True
    for name, origins in truth.items():
        assert name in lineage.columns or not lineage.complete, (text, name)
        sources = lineage.columns.get(name)
        if sources is None:  # unknown: it carries every tag
            exact = False
            continue
        ours = {f"{source.dataset}.{source.column}" for source in sources}
        assert origins <= ours, (text, name, origins - ours)
        exact = exact and ours == origins
    return exact


def by_plan(session: SparkSession, text: str) -> dict[str, Origins | None]:
    """What a run reports of the SELECT; None for an unknown column."""
    frame = session.sql(rewrite_tables(text, VIEWS, columns=COLUMNS))
    result: dict[str, Origins | None] = {}
    for item in frame_lineage(frame, INPUT_VIEWS).columns:
        made = frozenset(f"{source.dataset_id}.{source.column}" for source in item.sources)
        earlier = result.get(item.column.casefold(), frozenset())
        unknown = item.unknown or earlier is None
        result[item.column.casefold()] = None if unknown else made | (earlier or frozenset())
    return result


def reported(session: SparkSession, text: str, truth: dict[str, Origins]) -> bool:
    """Whether the plan that a run reads shows every column exactly; none may be made of less."""
    found = by_plan(session, text)
    for name, origins in truth.items():
        made = found[name]
        assert made is None or origins <= made, (text, name, made)
    return all(found[name] == origins for name, origins in truth.items())


def test_no_column_is_made_of_less_than_the_plan_shows(session: SparkSession) -> None:
    queries, counts = Queries(Random(20261117)), Counter[str]()
    wanted = draws(1_000, quick=40)
    while counts["valid"] < wanted:
        text = queries.draw()
        counts["drawn"] += 1
        assert counts["drawn"] < wanted * 3, counts
        problems = check_sql(text, frozenset(VIEWS), COLUMNS)
        truth = None if problems else by_spark(session, text)
        if truth is None:
            continue
        exact = compared(text, truth) and reported(session, text, truth)
        counts["valid"] += 1
        counts["modelled"] += queries.modelled
        counts["exact"] += exact and queries.modelled
    assert counts["modelled"] > wanted / 2
    assert counts["exact"] >= 0.95 * counts["modelled"], counts


BY_HAND = (
    "SELECT v AS a FROM silver.people UNPIVOT (v FOR n IN (email, city))",
    "SELECT col AS a FROM (SELECT explode(array(email)) FROM silver.people)",
    "SELECT s.* FROM (SELECT info AS s FROM silver.people)",
    "SELECT p.info.* FROM silver.people p",
    "SELECT c.* FROM silver.people p FULL JOIN silver.cities c USING (city)",
    "SELECT * FROM silver.people p JOIN silver.orders o USING (id)",
    "SELECT p.*, o.* FROM silver.people p RIGHT JOIN silver.orders o USING (id)",
    "SELECT * FROM silver.people p NATURAL JOIN silver.orders o",
    "SELECT count(p.city, p.id) AS n, count(DISTINCT *) AS m, count(*) AS k FROM silver.people p",
    "SELECT email AS a, upper(a) AS b, a || b AS c FROM silver.people",
    "SELECT (SELECT a FROM (SELECT email AS a FROM silver.orders)) AS z FROM silver.people",
    "SELECT id, max(amount) AS t FROM silver.orders GROUP BY ALL",
    "SELECT cast(email AS string), (city), int(id) FROM silver.people",
    "SELECT to_timestamp(email) FROM silver.people",
    "SELECT a.id FROM (silver.people a JOIN silver.orders b ON a.id = b.id)",
    "SELECT j.name FROM (silver.cities JOIN silver.people ON true) j",
    "SELECT id FROM silver.orders EXCEPT SELECT id FROM silver.people INTERSECT"
    " SELECT city FROM silver.cities",
    "SELECT max(email) AS a FROM silver.people TABLESAMPLE (10 ROWS)",
    "SELECT id, row_number() OVER w AS n FROM silver.orders"
    " WINDOW w AS (PARTITION BY email ORDER BY id)",
    "SELECT b AS z FROM (SELECT * FROM silver.orders LEFT SEMI JOIN silver.people USING (email))"
    " x(a, b, c, d, e)",
    "SELECT b AS z FROM (SELECT * FROM silver.orders ANTI JOIN (SELECT email FROM"
    " silver.people) USING (email)) x(a, b, c, d, e)",
    "SELECT 'k' AS `1`, `1` AS z FROM (SELECT email, city FROM silver.people)"
    " PIVOT (max(email) FOR city IN (01))",
    "SELECT 'k' AS ab, ab AS z FROM (SELECT email, city FROM silver.people)"
    " PIVOT (max(email) FOR city IN (r'a' 'b'))",
    "SELECT z FROM (SELECT email AS k, k AS z FROM (SELECT email, +k FROM"
    " (SELECT email, '1' AS k FROM silver.people)))",
    "SELECT z FROM (SELECT email AS k, k AS z FROM (SELECT email, cast(s.k AS string) FROM"
    " (SELECT email, named_struct('k', '1') AS s FROM silver.people)))",
    "SELECT (p).email AS z FROM silver.people p, (SELECT named_struct('email', 'k') AS p) q",
    "SELECT s.`(+ id)` AS z FROM (SELECT +id, named_struct('(+ id)', 'k') AS s"
    " FROM silver.people) s",
    "SELECT l.z FROM (SELECT email AS e FROM silver.people) o,"
    " LATERAL (SELECT explode(array('k')) AS e, upper(e) AS z) l",
    "SELECT upper(e) AS z, explode(tags) AS e FROM silver.people",
    *(
        "SELECT l.z FROM (SELECT 'k' AS age) o, LATERAL (SELECT"
        f" {item}, upper(age) AS z FROM (SELECT info FROM silver.people) t) l"
        for item in ("info.age", "t.info.age", "(info).age", "info.*")
    ),
)


@pytest.mark.parametrize("text", BY_HAND)
def test_what_is_easily_lost_is_not_lost(session: SparkSession, text: str) -> None:
    problems = check_sql(text, frozenset(VIEWS), COLUMNS)
    truth = None if problems else by_spark(session, text)
    if truth is not None:
        compared(text, truth)
        reported(session, text, truth)
