"""The lake from a notebook, on a user's session with its own settings."""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import DataFrame, SparkSession

import openlaketx
from lakeguard_sdk import DatasetName
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import (
    BuiltByProgram,
    BuiltByRuns,
    DefinitionNeeded,
    FileDamaged,
    NameTaken,
    NoteRefused,
    NotPublishable,
    NotRegistered,
    PathsForbidden,
    PublishBlocked,
    PublishFailed,
    UnknownFrame,
    UnknownVersion,
    WrongArgument,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromPython,
)
from lakeguard_sdk.model.load import Load
from openlaketx.engine.delta_table import live_files, open_table
from tests.support.projects.definitions import rule
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.spark
ORDERS = "silver.orders"
ONE_ORDER = "SELECT 1L AS n, timestamp'2024-01-01 00:00:00' AS `a b`"
HOSTILE = {
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.caseSensitive": "true",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.runSQLOnFiles": "true",
}


@pytest.fixture
def theirs(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with foreign settings, which must be unchanged afterwards."""
    session = spark.newSession()
    for key, value in HOSTILE.items():
        session.conf.set(key, value)
    before = settings(session)
    yield session
    assert settings(session) == before
    drop_databases(session)


def drop_databases(session: SparkSession) -> None:
    for layer in ("bronze", "silver"):
        session.sql(f"DROP DATABASE IF EXISTS {layer} CASCADE")


def settings(session: SparkSession) -> dict[str, str]:
    return {row[0]: row[1] for row in session.sql("SET").collect()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "odd [lake] {1}"
    make_project(folder, Definitions())
    return folder


@pytest.fixture
def tx(project: Path) -> openlaketx.Connection:
    return openlaketx.connect(project)


def numbers(session: SparkSession, *values: int) -> DataFrame:
    return session.createDataFrame([(value,) for value in values], "n long")


def shown(frame: DataFrame) -> list[Any]:
    return sorted(row[0] for row in frame.collect())


def define(tx: openlaketx.Connection, name: str, **given: Any) -> None:
    held = tx._client.reader.definition(DatasetName(name)).model_copy(update=given)
    registry = tx._client.registry
    registry.apply(registry.plan(Definitions(datasets=(held,))))


def test_a_frame_becomes_a_dataset_and_versions_stay_readable(
    theirs: SparkSession, tx: openlaketx.Connection
) -> None:
    first = tx.publish(ORDERS, numbers(theirs, 1, 2), reason="a first try", notes={"cells": 7})
    assert (first.status, first.version, first.registered) == (RunStatus.SUCCESS, 1, True)
    assert first.decision is not None
    assert first.decision.allowed
    assert "silver.orders was registered" in str(first)
    definition = tx._client.reader.definition(DatasetName(ORDERS))
    assert (definition.owner, definition.domain) == (getpass.getuser(), "unassigned")

    second = tx.publish(ORDERS, numbers(theirs, 3)).raise_if_blocked()
    assert (second.version, second.registered) == (2, False)
    assert str(second) == "silver.orders is published as v2, 1 row"
    described = [row.notes for row in tx._client.reader.versions(DatasetName(ORDERS))]
    assert described == [{}, {"cells": 7, "reason": "a first try"}]

    now, before = tx.read(theirs, ORDERS), tx.read(theirs, f"{ORDERS}@v1")
    assert (shown(now), shown(before)) == ([3], [1, 2])
    assert (tx.version_of(now).version, tx.version_of(before).version) == (2, 1)
    assert now.sparkSession is theirs
    tx.publish(ORDERS, numbers(theirs, 4))
    assert shown(now) == [3]
    with pytest.raises(UnknownFrame):
        tx.version_of(now.limit(1))


def test_what_is_written_does_not_depend_on_the_sessions_settings(
    theirs: SparkSession, tx: openlaketx.Connection
) -> None:
    frame = theirs.sql(
        """SELECT timestamp'2024-03-31 02:30:00' AS at, timestamp'0100-01-01 12:00:00' AS old,
                  date'1500-02-28' AS julian, cast('none' AS int) AS lenient, '5' + 1 AS sum,
                  cast(timestamp'2024-03-31 02:30:00' AS string) AS told"""
    )
    assert tx.publish(ORDERS, frame).raise_if_blocked().version == 1
    found = tx._client.reader.resolve(parse_address(ORDERS))
    live = live_files(open_table(found.location, found.commit))
    (file,) = [f"{found.location}/{path}" for path in live]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        quoted = file.replace("[", "[[]")
        kinds = connection.execute("SELECT type FROM parquet_schema($f)", {"f": quoted})
        assert "INT96" not in {row[0] for row in kinds.fetchall()}
        rows = connection.execute("SELECT * FROM read_parquet($f)", {"f": quoted}).fetchall()
    at, old, julian, lenient, total, reported = rows[0]
    assert at.astimezone(UTC) == datetime(2024, 3, 30, 21, tzinfo=UTC)
    assert old.astimezone(UTC).date().isoformat() == "0100-01-01"
    assert (julian.isoformat(), lenient, total) == ("1500-02-28", None, 6.0)
    assert reported == "2024-03-31 02:30:00"
    assert tx.read(theirs, ORDERS).collect() == frame.collect()


def test_what_the_gate_says_is_shown(theirs: SparkSession, tx: openlaketx.Connection) -> None:
    tx.publish(ORDERS, theirs.createDataFrame([("ok",)], "s string"))
    define(tx, ORDERS, rules=(rule("in_set(s, ['ok', '<b>'])"),))
    blocked = tx.publish(ORDERS, theirs.createDataFrame([("<script>",)], "s string"))
    assert (blocked.status, blocked.version) == (RunStatus.BLOCKED, None)
    with pytest.raises(PublishBlocked) as reported:
        blocked.raise_if_blocked()
    assert reported.value.next_step == f"lakeguard why {blocked.run.run_id}"
    html = blocked._repr_html_()
    assert "<td>FAIL</td>" in html
    assert "<b>" not in html
    assert "<script>" not in html
    assert shown(tx.read(theirs, ORDERS)) == ["ok"]


def test_a_frame_that_cannot_be_computed_fails_with_its_reason(
    theirs: SparkSession, tx: openlaketx.Connection
) -> None:
    broken = theirs.sql("SELECT raise_error('no such <luck>') AS n").selectExpr("cast(n AS int) n")
    failed = tx.publish(ORDERS, broken)
    assert failed.status is RunStatus.FAILED
    assert "no such &lt;luck&gt;" in failed._repr_html_()
    with pytest.raises(PublishFailed, match="no such <luck>"):
        failed.raise_if_blocked()
    with pytest.raises(UnknownVersion):
        tx.read(theirs, ORDERS)


def test_what_cannot_be_published_is_refused_before_anything_is_written(
    theirs: SparkSession, tx: openlaketx.Connection, project: Path
) -> None:
    with pytest.raises(NotPublishable, match="column i is interval"):
        tx.publish(ORDERS, theirs.sql("SELECT interval 1 day AS i"))
    with pytest.raises(NotPublishable, match="differ in case only"):
        tx.publish(ORDERS, theirs.sql("SELECT 1 AS n, 2 AS N"))
    with pytest.raises(NotPublishable, match="it is a streaming frame"):
        tx.publish(ORDERS, theirs.readStream.format("rate").load())
    with pytest.raises(WrongArgument, match="a list instead of a Spark DataFrame"):
        tx.publish(ORDERS, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(
        WrongArgument, match="a SparkSession of pyspark instead of a Spark DataFrame"
    ):
        tx.publish(ORDERS, theirs)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="None instead"):
        tx.read(None, ORDERS)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="in the wrong order"):
        tx.run(theirs, ORDERS)  # type: ignore[arg-type]
    with pytest.raises(DefinitionNeeded, match=r"gold\.orders is not registered"):
        tx.publish("gold.orders", numbers(theirs, 1))
    with pytest.raises(
        NotPublishable, match=r"U\+200B ZERO WIDTH SPACE;.*begin or end with a space"
    ):
        tx.publish(ORDERS, theirs.sql("SELECT 1 AS `a\u200b`, 2 AS ` b`"))
    assert tx._client.reader.datasets() == []
    with pytest.raises(NotRegistered):
        tx.run(ORDERS, theirs)
    tx.publish(ORDERS, numbers(theirs, 1))
    with pytest.raises(BuiltByProgram):
        tx.run(ORDERS, theirs)
    with pytest.raises(NoteRefused):
        tx.publish(ORDERS, numbers(theirs, 1), notes={"password": "a real one"})
    assert len(tx._client.reader.runs()) == 1


def python_dataset(project: Path, text: str) -> DatasetDefinition:
    (project / "jobs").mkdir(exist_ok=True)
    (project / "jobs" / "doubled.py").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return DatasetDefinition(
        dataset=DatasetName("silver.doubled"),
        domain="tests",
        owner="tests",
        parents=(DatasetName("bronze.numbers"),),
        build=FromPython(file="jobs/doubled.py", function="build", sha256=digest),
        load="FULL",  # type: ignore[arg-type]
        columns=(ColumnDefinition(name="n", type="long"),),
    )


def test_a_python_build_runs_on_their_session_from_a_project_beside_the_lake(
    theirs: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "lakeguard.toml").write_text('[env.dev]\nlake = "data"\n')
    tx = openlaketx.connect(tmp_path, env="dev")
    tx.publish("bronze.numbers", numbers(theirs, 1, 2)).raise_if_blocked()
    code = (
        "from openlaketx import run\n\ndef build(spark, inputs):\n"
        "    run.note({'zone': spark.conf.get('spark.sql.session.timeZone')})\n"
        "    return inputs['bronze.numbers'].selectExpr('n * 2 AS n')\n"
    )
    registry = tx._client.registry
    defined = Definitions(datasets=(python_dataset(tmp_path, code),))
    registry.apply(registry.plan(defined))
    result = tx.run("silver.doubled", theirs).raise_if_blocked()
    assert result.version == 1
    assert [str(item.dataset) for item in result.run.inputs] == ["bronze.numbers"]
    assert shown(tx.read(theirs, "silver.doubled")) == [2, 4]
    (version,) = tx._client.reader.versions(DatasetName("silver.doubled"))
    assert version.notes == {"zone": "UTC"}
    with pytest.raises(BuiltByRuns) as reported:
        tx.publish("silver.doubled", numbers(theirs, 1))
    assert "built from Python code" in str(reported.value)
    (tmp_path / "jobs" / "doubled.py").write_text(code + "\n")
    changed = tx.run("silver.doubled", theirs)
    assert changed.run.error is not None
    assert changed.run.error.code == "LG-5004"
    assert "jobs/doubled.py changed since it was applied" in changed.run.error.message


@pytest.mark.parametrize("delta", [True, False])
def test_published_datasets_are_tables_of_the_session(
    spark: SparkSession, tx: openlaketx.Connection, delta: bool
) -> None:
    theirs = spark.newSession()
    theirs.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    theirs.conf.set("spark.sql.runSQLOnFiles", "true")
    if not delta:
        theirs.conf.set("spark.sql.catalog.spark_catalog", "builtin")
    before = settings(theirs)
    tx.publish(ORDERS, theirs.sql(ONE_ORDER).union(theirs.sql(ONE_ORDER)))
    tx.publish("bronze.empty", numbers(theirs))
    assert tx.register(theirs) == {"bronze.empty": 1, ORDERS: 1}
    assert shown(theirs.table(ORDERS)) == [1, 1]
    assert theirs.table(ORDERS).dtypes == [("n", "bigint"), ("a b", "timestamp")]
    assert theirs.table(ORDERS).collect() == tx.read(theirs, ORDERS).collect()
    assert theirs.table("bronze.empty").count() == 0

    tx.publish(ORDERS, theirs.sql(ONE_ORDER.replace("1L", "2L")))
    assert shown(theirs.table(ORDERS)) == [1, 1]
    assert tx.register(theirs)[ORDERS] == 2
    assert shown(theirs.sql("SELECT * FROM silver.orders WHERE n = 2")) == [2]
    assert settings(theirs) == before
    described = theirs.sql("DESCRIBE EXTENDED silver.orders").collect()
    (text,) = [row[1] for row in described if row[0] == "View Text"]
    assert ("delta.`" in text, "parquet.`" in text) == (delta, not delta)
    drop_databases(theirs)


@pytest.fixture
def without_delta(theirs: SparkSession) -> Iterator[SparkSession]:
    before = theirs.conf.get("spark.sql.catalog.spark_catalog")
    theirs.conf.set("spark.sql.catalog.spark_catalog", "builtin")
    yield theirs
    theirs.conf.set("spark.sql.catalog.spark_catalog", before)


def test_a_table_that_gained_columns_is_shown_from_its_files(
    without_delta: SparkSession, tx: openlaketx.Connection
) -> None:
    theirs = without_delta
    tx.publish(ORDERS, numbers(theirs, 1))
    added = {"tags": "array<struct<`a b`:long>>", "N2": "decimal(9,2)", "at": "timestamp"}
    columns = (ColumnDefinition(name=name, type=given) for name, given in added.items())
    held = tx._client.reader.definition(DatasetName(ORDERS))
    define(tx, ORDERS, load=Load(type=LoadType.APPEND), columns=(*held.columns, *columns))
    row = """SELECT 2L AS n, array(named_struct('a b', 7L)) AS tags,
                    cast(1.5 AS decimal(9,2)) AS N2, timestamp'2024-01-01 00:00:00' AS at"""
    assert tx.publish(ORDERS, theirs.sql(row)).raise_if_blocked().version == 2
    assert tx.register(theirs) == {ORDERS: 2}
    frame = theirs.table(ORDERS)
    assert frame.dtypes == tx.read(theirs, ORDERS).dtypes
    assert frame.orderBy("n").collect() == tx.read(theirs, ORDERS).orderBy("n").collect()
    assert frame.where("tags IS NULL AND N2 IS NULL AND at IS NULL").count() == 1


def test_a_table_that_cannot_be_shown_does_not_stop_the_others(
    without_delta: SparkSession, tx: openlaketx.Connection
) -> None:
    theirs = without_delta
    for name in ("bronze.gone", "bronze.lost", ORDERS):
        tx.publish(name, numbers(theirs, 1))
    for name in ("bronze.gone", "bronze.lost"):
        found = tx._client.reader.resolve(parse_address(name))
        (path,) = live_files(open_table(found.location, found.commit))
        Path(found.location, path).unlink()
    with pytest.raises(
        FileDamaged, match=r"bronze\.gone was not read: .* it is missing"
    ) as reported:
        tx.register(theirs)
    assert "bronze.lost" in "".join(reported.value.__notes__)
    assert shown(theirs.table(ORDERS)) == [1]
    assert not theirs.catalog.tableExists("bronze.gone")


def test_what_others_put_into_the_catalogue_is_left_alone(
    spark: SparkSession, theirs: SparkSession, tx: openlaketx.Connection, tmp_path: Path
) -> None:
    tx.publish(ORDERS, numbers(theirs, 1))
    theirs.sql(f"CREATE DATABASE silver LOCATION '{tmp_path}/theirs'")
    theirs.sql("CREATE VIEW silver.orders AS SELECT 66 AS n")
    with pytest.raises(NameTaken):
        tx.register(theirs)
    assert shown(theirs.table(ORDERS)) == [66]
    with pytest.raises(PathsForbidden):
        tx.register(spark)


def test_frames_are_loaded_as_the_definition_says(
    theirs: SparkSession, tx: openlaketx.Connection
) -> None:
    rows = [(1, "a"), (2, "b")]
    tx.publish(ORDERS, theirs.createDataFrame(rows, "n long, s string"))
    define(tx, ORDERS, load=Load(type=LoadType.INCREMENTAL, keys=("n",), skip_unchanged=True))
    changed = theirs.createDataFrame([(2, "B"), (3, "c")], "n long, s string")
    assert tx.publish(ORDERS, changed).raise_if_blocked().version == 2
    assert shown(tx.read(theirs, ORDERS).selectExpr("concat(n, s)")) == ["1a", "2B", "3c"]
    missing = tx.publish(ORDERS, numbers(theirs, 4))
    assert missing.status is RunStatus.BLOCKED


def test_frames_on_python_workers_and_of_their_views_can_be_published(
    theirs: SparkSession, tx: openlaketx.Connection
) -> None:
    numbers(theirs, 1, 2).createOrReplaceTempView("mine")
    cached = theirs.table("mine").cache()
    assert tx.publish(ORDERS, cached.selectExpr("n + 1 AS n")).raise_if_blocked().version == 1
    assert shown(tx.read(theirs, ORDERS)) == [2, 3]
    assert theirs.catalog.tableExists("mine")
    cached.unpersist()
