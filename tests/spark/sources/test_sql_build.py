"""A build reads its pinned inputs and nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BuildFailed, NewRowsUnknown, TableUnreadable
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import InputPin, SqlBuild, TableSnapshot
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.session import settle
from openlaketx.extract import Batch
from openlaketx.extract.extract import read_sql
from openlaketx.publish import commit_publish
from tests.support.lakes.plans import schema
from tests.unit.openlaketx.governed import DATASET, DATASET_ID, NUMBERS, Governed

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    return two_versions(tmp_path / "odd [lake] {1}")


def two_versions(lake: Path) -> Governed:
    """Commit 1 contains 1 and 2, commit 2 also 3."""
    table = Governed.at(lake)
    for run, numbers in (("run_1", [1, 2]), ("run_2", [3])):
        staged = table.stage(f"runs/{run}/part 0.parquet", numbers)
        table.published(commit_publish(table.intent(staged)))
    return table


def pin(table: Governed, commit: int, since: int | None = None, **changed: str) -> InputPin:
    def snapshot(version: int) -> TableSnapshot:
        fields = {"location": table.location, "table_id": table.table_id, **changed}
        return TableSnapshot(commit=version, **fields)

    return InputPin(
        input=InputVersion(dataset=DATASET, dataset_id=DATASET_ID, version=commit),
        snapshot=snapshot(commit),
        table_schema=NUMBERS,
        since=None if since is None else snapshot(since),
    )


def build(session: SparkSession, text: str, **views: InputPin) -> Batch | None:
    return read_sql(session, SqlBuild(text=text, views=views), "gold.t")


def numbers(session: SparkSession, **views: InputPin) -> list[int]:
    batch = build(session, "SELECT n FROM numbers ORDER BY n", **views)
    assert batch is not None
    return [row[0] for row in batch.frame.collect()]


def test_exactly_the_pinned_version_is_read(session: SparkSession, tmp_path: Path) -> None:
    table = two_versions(tmp_path)
    table.write_foreign([66])
    assert numbers(session, numbers=pin(table, 1)) == [1, 2]
    assert numbers(session, numbers=pin(table, 2)) == [1, 2, 3]
    assert numbers(session, numbers=pin(table, 0)) == []


def test_the_batch_knows_what_it_read_and_what_it_holds(
    session: SparkSession, table: Governed
) -> None:
    text = """SELECT a.n, upper(b.s) AS big, cast(a.n / 3 AS decimal(9,2)) AS third
              FROM one a JOIN two b ON a.n = b.n"""
    batch = build(session, text, one=pin(table, 1), two=pin(table, 1))
    assert batch is not None
    assert batch.live == schema(n="long", big="string", third="decimal(9,2)")
    assert [item.version for item in batch.inputs] == [1]
    assert (batch.position, batch.frame.count()) == (None, 2)


def test_an_incremental_build_reads_what_the_parent_gained(
    session: SparkSession, table: Governed
) -> None:
    assert numbers(session, numbers=pin(table, 2, since=1)) == [3]
    assert build(session, "SELECT n FROM numbers", numbers=pin(table, 2, since=2)) is None
    both = {"numbers": pin(table, 2, since=1), "other": pin(table, 2)}
    assert numbers(session, **both) == [3]


def test_a_parent_that_lost_rows_is_refused(session: SparkSession, table: Governed) -> None:
    staged = table.stage("runs/run_3/part-0.parquet", [9])
    table.published(commit_publish(table.intent(staged, load=LoadType.FULL)))
    with pytest.raises(NewRowsUnknown, match=r"silver\.numbers lost rows .* FULL"):
        build(session, "SELECT n FROM numbers", numbers=pin(table, 3, since=2))


def test_a_recursion_without_end_is_stopped(session: SparkSession, table: Governed) -> None:
    session.conf.set("spark.sql.cteRecursionLevelLimit", "-1")
    settle(session)
    text = """WITH RECURSIVE t(n) AS (SELECT n FROM numbers UNION ALL SELECT n + 1 FROM t)
              SELECT count(*) AS n FROM t"""
    batch = build(session, text, numbers=pin(table, 1))
    assert batch is not None
    with pytest.raises(SPARK_ERRORS) as stopped:
        batch.frame.collect()
    assert "Recursion level limit 100 reached" in str(batch.explain(stopped.value))


@pytest.mark.parametrize(
    ("changed", "about"),
    [({"table_id": "other"}, "instead of other"), ({"location": "nowhere"}, "cannot be read")],
)
def test_another_table_than_pinned(
    session: SparkSession, table: Governed, changed: dict[str, str], about: str
) -> None:
    with pytest.raises(TableUnreadable, match=about):
        build(session, "SELECT n FROM numbers", numbers=pin(table, 1, **changed))


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("DROP VIEW numbers", "not a query"),
        ("CREATE TABLE t USING parquet AS SELECT 1 AS n", "not a query"),
        ("INSERT INTO numbers VALUES (1, 'x')", "not a query"),
        ("SET spark.sql.ansi.enabled=false", "not a query"),
        ("CACHE TABLE numbers", "not a query"),
        ("BEGIN SELECT 1; END", "not a query"),
        ("SELECT * FROM parquet.`{place}`", "parquet"),
        ("SELECT * FROM read_files('{place}')", "read_files"),
        ("SELECT * FROM nothing_here", "nothing_here"),
        ("SELECT nothing FROM numbers", "nothing"),
        ("SELECT (n FROM numbers", "Syntax error"),
        ("SELECT NULL AS nothing FROM numbers", "nothing is void"),
        ("SELECT interval 1 day AS long FROM numbers", "long is interval"),
        ("SELECT parse_json(s) AS v FROM numbers", "v is variant"),
        ("SELECT n, n FROM numbers", "duplicate column"),
        ("SELECT n, s AS N FROM numbers", "differ in case only"),
    ],
)
def test_what_is_not_a_build(session: SparkSession, table: Governed, text: str, about: str) -> None:
    place = f"{table.location}/runs/run_1/part 0.parquet"
    with pytest.raises(BuildFailed) as reported:
        build(session, text.format(place=place), numbers=pin(table, 1))
    assert about in str(reported.value)
    assert "\n" not in str(reported.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT cast(concat('n', 'ow') AS timestamp) AS t FROM numbers",
        "SELECT date(reverse('yadot')) AS t FROM numbers",
        "SELECT to_timestamp('no' || 'w') AS t FROM numbers",
        "SELECT hour('no' || 'w') AS t FROM numbers",
        "SELECT n FROM numbers WHERE timestamp '2020-01-01' < 'no' || 'w'",
        "SELECT n FROM numbers WHERE n IN (SELECT day(lower('TODAY')) FROM numbers)",
        "WITH x AS (SELECT try_cast(trim(' now ') AS timestamp_ntz) AS t) SELECT t FROM x",
        "SELECT cast(:day AS timestamp) AS t FROM numbers",
        "SELECT date_add(concat(:day, ''), 1) AS t FROM numbers",
    ],
)
def test_no_text_gives_the_time_of_the_query(
    session: SparkSession, table: Governed, text: str
) -> None:
    given = {"day": "now"} if ":day" in text else {}
    with pytest.raises(BuildFailed, match="is the time of the query"):
        read(session, text, given, table)


def test_texts_in_rows_and_other_constants_are_no_clock(
    session: SparkSession, table: Governed
) -> None:
    text = """SELECT try_cast(t AS timestamp) AS a, try_cast(t || '' AS date) AS b,
                     cast('2020-' || '01-02' AS date) AS c, cast(:day AS date) AS d
              FROM (SELECT if(n > 0, 'now', s) AS t FROM numbers) LIMIT 1"""
    batch = read(session, text, {"day": "2020-01-02"}, table)
    assert batch is not None
    day = date(2020, 1, 2)
    assert [tuple(row) for row in batch.frame.collect()] == [(None, None, day, day)]


def read(
    session: SparkSession, text: str, parameters: dict[str, str], table: Governed
) -> Batch | None:
    views = {"numbers": pin(table, 1)}
    return read_sql(session, SqlBuild(text=text, views=views, parameters=parameters), "gold.t")


def test_a_failure_while_computing_is_one_line(session: SparkSession, table: Governed) -> None:
    batch = build(session, "SELECT n / (n - n) AS x FROM numbers", numbers=pin(table, 1))
    assert batch is not None
    with pytest.raises(SPARK_ERRORS) as raised:
        batch.frame.collect()
    reported = batch.explain(raised.value)
    assert isinstance(reported, BuildFailed)
    assert "Division by zero" in str(reported)
    assert "\n" not in str(reported)


def test_views_of_one_run_are_unknown_to_the_next(
    spark: SparkSession, session: SparkSession, table: Governed
) -> None:
    numbers(session, numbers=pin(table, 1))
    assert not spark.catalog.tableExists("numbers")
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
