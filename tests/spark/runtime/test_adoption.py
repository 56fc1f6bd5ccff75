"""Adopted tables that Spark wrote: all reads and writes work afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import openlaketx
from lakeguard.services.adopt_table import basic_rules, proposed_definition
from lakeguard.services.draft_rules import inspect_and_suggest
from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, FromSql
from lakeguard_sdk.model.load import Load
from openlaketx.worker import SparkWorker
from tests.support.lakes.foreign_tables import adopt, fingerprint
from tests.support.projects.definitions import rule
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.spark
CUSTOMERS = DatasetName("silver.customers")
Row = tuple[Any, ...]
SOME = (
    "SELECT id, concat('c', id) AS name,"
    " element_at(array(NULL, 'D/E %41', 'FR'), CAST(id % 3 AS INT) + 1) AS country,"
    " date'2026-01-01' + CAST(id % 2 AS INT) AS day,"
    " timestamp'2026-01-01 10:00:00' + make_interval(0, 0, 0, 0, CAST(id AS INT)) AS seen"
    " FROM range({low}, {high}) AS r(id)"
)


@pytest.fixture
def theirs(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with Spark's default write settings."""
    session = spark.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.runSQLOnFiles", "true")
    yield session
    session.sql("DROP DATABASE IF EXISTS silver CASCADE")


@pytest.fixture
def location(theirs: SparkSession, tmp_path: Path) -> str:
    """Partitioned, with several commits, a column added later, a checkpoint and a cleaned log."""
    place = tmp_path / "their tables" / "customers"
    theirs.conf.set("spark.databricks.delta.properties.defaults.checkpointInterval", "3")
    for low in (0, 20, 40):
        _append(theirs, place, SOME.format(low=low, high=low + 20))
    theirs.sql(f"DELETE FROM delta.`{place}` WHERE id = 5")
    theirs.sql(f"ALTER TABLE delta.`{place}` ADD COLUMN (vip BOOLEAN)")
    checkpoints = list((place / "_delta_log").glob("*.checkpoint.parquet"))
    last = max(int(file.name[:20]) for file in checkpoints)
    for version in range(last):
        (place / "_delta_log" / f"{version:020d}.json").unlink()
    assert last >= 3
    return str(place)


def _append(session: SparkSession, place: Path, sql: str) -> None:
    frame = session.sql(sql)
    frame.write.format("delta").mode("append").partitionBy("country", "day").save(str(place))


@pytest.fixture
def client(tmp_path: Path, location: str) -> Client:
    made = make_project(tmp_path / "lake", Definitions())
    table = made.operations.examine(location)
    now = datetime.now(UTC)
    sketch, found = inspect_and_suggest(location, location, basic_rules, now, whole=True)
    proposed = proposed_definition(
        CUSTOMERS, table, sketch, owner="ann", domain="sales", suggested=found
    )
    register(made, proposed)
    return made


def register(client: Client, *definitions: DatasetDefinition) -> None:
    client.registry.apply(client.registry.plan(Definitions(datasets=definitions)))


def revise(client: Client, **given: Any) -> None:
    register(client, client.reader.definition(CUSTOMERS).model_copy(update=given))


def sorted_rows(frame: DataFrame) -> list[Row]:
    names = ("id", "name", "country", "day", "seen")
    return sorted((tuple(row) for row in frame.select(*names).collect()), key=lambda row: row[0])


def expected(*ids: int) -> list[Row]:
    return [
        (
            n,
            f"c{n}",
            (None, "D/E %41", "FR")[n % 3],
            date(2026, 1, 1 + n % 2),
            datetime(2026, 1, 1 + (10 + n) // 24, (10 + n) % 24, tzinfo=UTC).replace(tzinfo=None),
        )
        for n in ids
    ]


def batch(session: SparkSession, low: int, high: int) -> DataFrame:
    return session.sql(f"SELECT *, true AS vip FROM ({SOME.format(low=low, high=high)})")


FIRST = [n for n in range(60) if n != 5]


def test_rules_are_proposed_that_every_row_keeps(client: Client) -> None:
    definition = client.reader.definition(CUSTOMERS)
    assert definition.load.partition_by == ("country", "day")
    given = {rule.expression for rule in definition.rules}
    assert {"not_null(id)", "not_null(day)", "unique(id)", "row_count(min=1)"} <= given
    assert "in_set(country, values=['D/E %41', 'FR'])" in given
    assert not {"not_null(country)", "not_null(vip)"} & given


def test_it_is_adopted_as_it_is(client: Client, location: str, theirs: SparkSession) -> None:
    before = fingerprint(location)
    ended = adopt(client, CUSTOMERS)
    assert (ended.status, ended.version, ended.rows) == (RunStatus.SUCCESS, 1, 59), ended.error
    new = [name for name, _ in fingerprint(location).items() - before.items()]
    assert [Path(name).parent.name for name in new] == ["_delta_log"]
    tx = openlaketx.Connection(client)
    assert sorted_rows(tx.read(theirs, CUSTOMERS)) == expected(*FIRST)
    assert sorted_rows(theirs.read.format("delta").load(location)) == expected(*FIRST)
    assert pa.table(DeltaTable(location).scan().read_all()).num_rows == 59
    assert client.ledger.verify(replay=True).findings == ()


def test_a_blocked_adoption_leaves_every_byte(client: Client, location: str) -> None:
    before = fingerprint(location)
    revise(client, rules=(*client.reader.definition(CUSTOMERS).rules, rule("max(id, max=10)")))
    ended = adopt(client, CUSTOMERS)
    assert ended.status is RunStatus.BLOCKED
    assert fingerprint(location) == before


def test_programs_publish_to_it_and_it_rolls_back(
    client: Client, location: str, theirs: SparkSession
) -> None:
    adopt(client, CUSTOMERS)
    tx = openlaketx.Connection(client)
    assert tx.publish(CUSTOMERS, batch(theirs, 60, 70)).version == 2
    everything = [*FIRST, *range(60, 70)]
    assert sorted_rows(tx.read(theirs, CUSTOMERS)) == expected(*everything)
    assert sorted_rows(theirs.read.format("delta").load(location)) == expected(*everything)
    twice = tx.publish(CUSTOMERS, batch(theirs, 10, 11))
    assert twice.status is RunStatus.BLOCKED, "the key is unique in the whole table"
    client.operations.rollback(CUSTOMERS, 1, "as it was")
    assert sorted_rows(tx.read(theirs, CUSTOMERS)) == expected(*FIRST)
    assert sorted_rows(theirs.read.format("delta").load(location)) == expected(*FIRST)
    tx.register(theirs)
    assert sorted_rows(theirs.table("silver.customers")) == expected(*FIRST)
    assert client.ledger.verify(replay=True).findings == ()


def test_a_load_by_key_rewrites_files_that_leave_columns_to_the_log(
    client: Client, theirs: SparkSession, location: str
) -> None:
    adopt(client, CUSTOMERS)
    load = Load(type=LoadType.INCREMENTAL, keys=("id",), partition_by=("country", "day"))
    revise(client, load=load)
    tx = openlaketx.Connection(client)
    changed = batch(theirs, 3, 5).withColumn("name", F.lit("new"))
    result = tx.publish(CUSTOMERS, changed)
    assert result.version == 2
    wanted = [(*row[:1], "new", *row[2:]) if row[0] in (3, 4) else row for row in expected(*FIRST)]
    assert sorted_rows(tx.read(theirs, CUSTOMERS)) == wanted
    assert sorted_rows(theirs.read.format("delta").load(location)) == wanted
    assert client.ledger.verify(replay=True).findings == ()


def test_columns_can_be_added_and_children_read_it(
    client: Client, theirs: SparkSession, spark: SparkSession
) -> None:
    adopt(client, CUSTOMERS)
    columns = client.reader.definition(CUSTOMERS).columns
    revise(client, columns=(*columns, columns[0].model_copy(update={"name": "score"})))
    tx = openlaketx.Connection(client)
    grown = batch(theirs, 60, 62).selectExpr("*", "id * 2 AS score")
    assert tx.publish(CUSTOMERS, grown).version == 2
    assert sorted_rows(tx.read(theirs, CUSTOMERS)) == expected(*FIRST, 60, 61)
    register(client, _child())
    worker = SparkWorker(client.for_worker(), lambda: spark)
    ended = worker.run_task(client.operations.submit(DatasetName("gold.countries"), "test"))
    assert ended.status is RunStatus.SUCCESS, ended.error
    counted = {row["country"]: row["n"] for row in tx.read(theirs, "gold.countries").collect()}
    assert counted == {None: 21, "D/E %41": 21, "FR": 19}


def _child() -> DatasetDefinition:
    text = "SELECT country, count(*) AS n FROM silver.customers GROUP BY country"
    return DatasetDefinition.model_validate(
        {
            "dataset": "gold.countries",
            "domain": "sales",
            "owner": "ann",
            "parents": ["silver.customers"],
            "build": FromSql(file="sql/countries.sql", text=text).to_data(),
            "load": {"type": "FULL"},
            "columns": [{"name": "country", "type": "string"}, {"name": "n", "type": "long"}],
        }
    )


def test_small_files_are_merged_and_old_ones_go(
    client: Client, theirs: SparkSession, location: str
) -> None:
    """Files whose partition columns are only in the log are not merged."""
    adopt(client, CUSTOMERS)
    tx = openlaketx.Connection(client)
    for low in (60, 62, 64):
        tx.publish(CUSTOMERS, batch(theirs, low, low + 2))
    worker = SparkWorker(client.for_worker(), lambda: theirs)
    merged = worker.run_compaction(client.operations.submit_compaction(CUSTOMERS, "test"))
    assert merged.version == 4, merged.error
    client.operations.maintain(CUSTOMERS)
    assert sorted_rows(theirs.read.format("delta").load(location)) == expected(
        *FIRST, *range(60, 66)
    )
    assert client.ledger.verify(replay=True).findings == ()


FEATURES: dict[str, tuple[str, ...]] = {
    "appendOnly": ("{create} TBLPROPERTIES ('delta.appendOnly' = 'true')",),
    "changeDataFeed": ("{create} TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",),
    "deletionVectors": ("{create} TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",),
    "columnMapping": ("{create} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",),
    "rowTracking": ("{create} TBLPROPERTIES ('delta.enableRowTracking' = 'true')",),
    "typeWidening": ("{create} TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",),
    "v2Checkpoint": ("{create} TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')",),
    "inCommitTimestamp": ("{create} TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",),
    "checkConstraints": ("{create}", "ALTER TABLE {table} ADD CONSTRAINT few CHECK (id < 10)"),
    "clustering": ("CREATE TABLE {table} (id BIGINT, s STRING) USING delta CLUSTER BY (id)",),
    "generated": (
        "CREATE TABLE {table} (id BIGINT, s BIGINT GENERATED ALWAYS AS (id * 2)) USING delta",
    ),
    "identity": (
        "CREATE TABLE {table} (id BIGINT GENERATED ALWAYS AS IDENTITY, s STRING) USING delta",
    ),
    "NOT NULL": ("CREATE TABLE {table} (id BIGINT NOT NULL, s STRING) USING delta",),
    "length": ("CREATE TABLE {table} (id BIGINT, s VARCHAR(9)) USING delta",),
    "outside": ("CREATE TABLE {table} SHALLOW CLONE delta.`{other}`",),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_what_would_not_be_kept_is_refused_by_name(
    feature: str, theirs: SparkSession, tmp_path: Path
) -> None:
    place, other = tmp_path / "t", tmp_path / "other"
    theirs.sql("SELECT 1L AS id, 'x' AS s").write.format("delta").save(str(other))
    words = {
        "table": f"delta.`{place}`",
        "other": str(other),
        "create": f"CREATE TABLE delta.`{place}` (id BIGINT, s STRING) USING delta",
    }
    for statement in FEATURES[feature]:
        theirs.sql(statement.format(**words))
    client = make_project(tmp_path / "lake", Definitions())
    before = fingerprint(str(place))
    with pytest.raises(NotAdoptable) as refused:
        client.operations.examine(str(place))
    assert feature in str(refused.value)
    assert refused.value.next_step
    assert fingerprint(str(place)) == before


WAYS_OUT: dict[str, Callable[[str], list[str]]] = {
    "appendOnly": lambda t: [f"ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'false')"],
    "NOT NULL": lambda t: [f"ALTER TABLE {t} ALTER COLUMN id DROP NOT NULL"],
    "length": lambda t: [f"ALTER TABLE {t} ALTER COLUMN s TYPE STRING"],
}


@pytest.mark.parametrize("feature", WAYS_OUT)
def test_the_way_out_that_is_named_leads_out(
    feature: str, theirs: SparkSession, tmp_path: Path
) -> None:
    place = tmp_path / "t"
    table = f"delta.`{place}`"
    create = f"CREATE TABLE {table} (id BIGINT, s STRING) USING delta"
    theirs.sql(FEATURES[feature][0].format(table=table, create=create))
    client = make_project(tmp_path / "lake", Definitions())
    for statement in WAYS_OUT[feature](table):
        theirs.sql(statement)
    assert client.operations.examine(str(place)).rows == 0
