"""Tags follow frames: through a notebook, through Python builds, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import openlaketx
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from openlaketx.extract.frame_lineage import frame_lineage
from tests.support.lakes.lineage_tables import Found, LineageTables
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, apply_again, run
from tests.support.projects.people import people_definitions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

# Plans, over two tables of files.


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> LineageTables:
    session = spark.newSession()
    return LineageTables(session, tmp_path_factory.mktemp("tables"))


def upper(values: Any) -> Any:
    return values


def first_value(values: pd.Series) -> int:
    return int(values.iloc[0])


def in_a_variable(spark: SparkSession) -> DataFrame:
    spark.sql("DECLARE OR REPLACE VARIABLE mails ARRAY<STRING>")
    spark.sql("SET VAR mails = (SELECT collect_list(mail) FROM a)")
    return spark.sql("SELECT explode(mails) AS x")


def in_the_newer_interface(spark: SparkSession) -> SparkSession:
    """Reads files as tables of Spark's DataSource V2."""
    session = spark.newSession()
    session.conf.set("spark.sql.sources.useV1SourceList", "")
    return session


def over(made: Column) -> Column:
    return made.over(Window.partitionBy("mail").orderBy("amount"))


EXACT: dict[str, tuple[Callable[[LineageTables], DataFrame], Found]] = {
    "renamed": (
        lambda t: t.a.withColumnRenamed("mail", "x").select("id", "x"),
        {"id": {"a.id"}, "x": {"a.mail"}},
    ),
    "expressions": (
        lambda t: t.a.selectExpr("upper(mail) || amount u", "id + 1 i", "'EUR' c", "now() t"),
        {"u": {"a.mail", "a.amount"}, "i": {"a.id"}, "c": set(), "t": set()},
    ),
    "joined": (
        lambda t: t.a.join(t.b, "id").select("id", "phone", "amount"),
        {"id": {"a.id"}, "phone": {"b.phone"}, "amount": {"a.amount"}},
    ),
    "joined with itself": (
        lambda t: (
            t.a.alias("l")
            .join(t.a.alias("r"), F.col("l.id") == F.col("r.amount"))
            .select(F.col("l.id").alias("x"), F.col("r.mail").alias("y"))
        ),
        {"x": {"a.id"}, "y": {"a.mail"}},
    ),
    "in a subset of another": (
        lambda t: t.a.join(t.b, "id", "left_semi").select("amount"),
        {"amount": {"a.amount"}},
    ),
    "united by position": (
        lambda t: t.a.select("id", "mail").union(t.b.select("phone", "id")),
        {"id": {"a.id", "b.phone"}, "mail": {"a.mail", "b.id"}},
    ),
    "united by name": (
        lambda t: t.a.select("id", "mail").unionByName(t.b, allowMissingColumns=True),
        {"id": {"a.id", "b.id"}, "mail": {"a.mail"}, "phone": {"b.phone"}},
    ),
    "exploded": (
        lambda t: t.a.select("id", F.explode("xs").alias("x")),
        {"id": {"a.id"}, "x": {"a.xs"}},
    ),
    "aggregated": (
        lambda t: t.a.groupBy("mail").agg(F.sum("amount").alias("s"), F.count("*").alias("n")),
        {"mail": {"a.mail"}, "s": {"a.amount"}, "n": set()},
    ),
    "over a window": (
        lambda t: t.a.select(over(F.row_number()).alias("r"), over(F.lag("id")).alias("l")),
        {"r": set(), "l": {"a.id"}},
    ),
    "over views": (
        lambda t: t.spark.sql(
            "with c as (select mail, id from a) select c.mail m, (select max(phone) from b) p,"
            " c.id from c where id in (select id from b)"
        ),
        {"m": {"a.mail"}, "p": {"b.phone"}, "id": {"a.id"}},
    ),
    "unpivoted": (
        lambda t: t.spark.sql("select v, n from a unpivot (v for n in (id, amount))"),
        {"v": {"a.id", "a.amount"}, "n": set()},
    ),
    "unpivoted from one column": (
        lambda t: t.a.select("id", "mail").unpivot("id", ["mail"], "n", "v").select("id", "v"),
        {"id": {"a.id"}, "v": {"a.id", "a.mail"}},
    ),
    "melted from two columns": (
        lambda t: t.a.select("id", "amount", "mail").melt("mail", ["id", "amount"], "n", "v"),
        {"mail": {"a.mail"}, **{key: {"a.id", "a.amount", "a.mail"} for key in ("n", "v")}},
    ),
    "rolled up": (
        lambda t: t.a.rollup("mail").agg(F.max("id").alias("m")),
        {"mail": {"a.mail"}, "m": {"a.id"}},
    ),
    "joined laterally": (
        lambda t: t.spark.sql("select a.id, t.p from a, lateral (select phone p from b) t"),
        {"id": {"a.id"}, "p": {"b.phone"}},
    ),
    "joined laterally to itself": (
        lambda t: t.spark.sql("select t.x, t.y from a, lateral (select a.mail x, a.id + 1 y) t"),
        {"x": {"a.mail"}, "y": {"a.id"}},
    ),
    "where the row is": (
        lambda t: t.a.select(F.col("_metadata.file_name").alias("f"), F.lit(1).alias("one")),
        {"f": set(), "one": set()},
    ),
    "cached": (lambda t: t.a.select("mail").cache(), {"mail": {"a.mail"}}),
    "without the others": (
        lambda t: t.a.drop("mail", "xs").dropDuplicates(["id"]).sort("id").limit(2),
        {"id": {"a.id"}, "amount": {"a.amount"}},
    ),
    "of tables of DataSource V2": (
        lambda t: (
            in_the_newer_interface(t.spark)
            .read.parquet(*t.a.inputFiles())
            .selectExpr("mail x", "id")
        ),
        {"x": {"a.mail"}, "id": {"a.id"}},
    ),
    "counted from nothing": (lambda t: t.spark.range(3), {"id": set()}),
}
UNKNOWN: dict[str, Callable[[LineageTables], DataFrame]] = {
    "collected": lambda t: t.spark.createDataFrame(t.a.select("mail").collect(), "x string"),
    "collected in pandas": lambda t: t.spark.createDataFrame(t.a.select("mail").toPandas()),
    "of an RDD": lambda t: t.a.select("mail").rdd.map(tuple).toDF(["x"]),
    "in a variable of the session": lambda t: in_a_variable(t.spark),
    "at a checkpoint": lambda t: t.a.select("mail").localCheckpoint(),
    "by a function without arguments": lambda t: t.a.select(F.udf(lambda: "x", "string")()),
    "by a function that knows more than its arguments": lambda t: t.a.select(
        F.udf({row.id: row.mail for row in t.a.collect()}.get, "string")("id")
    ),
    "by a function that aggregates": lambda t: t.a.agg(F.pandas_udf(first_value, "long")("id")),
    "by a function over rows": lambda t: t.a.select("id", "mail").mapInPandas(
        upper, "x long, y string"
    ),
    "by a function over groups": lambda t: (
        t.a.select("id", "mail")
        .groupBy("id")
        .applyInPandas(lambda rows: rows, "id long, mail string")
    ),
    "in files of the program": lambda t: t.spark.read.text(str(Path(__file__))),
}
OF_FORMAT = {
    "binaryFile": "path string, modificationTime timestamp, length long, content binary",
    "text": "value string",
}


@pytest.mark.parametrize("made", EXACT)
def test_columns_are_followed_exactly(tables: LineageTables, made: str) -> None:
    frame, expected = EXACT[made]
    assert tables.followed(frame(tables)) == expected


@pytest.mark.parametrize("made", UNKNOWN)
def test_what_the_plan_does_not_show_is_unknown(tables: LineageTables, made: str) -> None:
    frame = UNKNOWN[made](tables)
    found = frame_lineage(frame, tables.reads)
    assert all(column.unknown for column in found.columns)
    assert {item.dataset for item in found.inputs} == {"silver.a", "silver.b"}
    assert found.outside, "values of code, and rows that it creates, are no input"


@pytest.mark.parametrize("open_session", [lambda spark: spark, in_the_newer_interface])
@pytest.mark.parametrize("form", ["binaryFile", "csv", "json", "text"])
def test_files_that_are_read_in_another_format_are_unknown(
    tables: LineageTables, form: str, open_session: Callable[[SparkSession], SparkSession]
) -> None:
    frame = open_session(tables.spark).read.format(form).schema(OF_FORMAT.get(form, "id string"))
    found = frame_lineage(frame.load(list(tables.a.inputFiles())), tables.reads)
    assert all(column.unknown for column in found.columns)
    assert {item.dataset for item in found.inputs} == {"silver.a", "silver.b"}


def test_rows_of_the_query_itself_have_no_other_origin(tables: LineageTables) -> None:
    loop = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) TABLE r"
    by_program = ("rows created by the program",)
    assert frame_lineage(tables.spark.sql(loop), tables.reads).outside == by_program
    rows = frame_lineage(tables.spark.sql("VALUES (now())"), tables.reads)
    assert rows.outside == by_program


def test_what_only_filters_rows_is_an_input(tables: LineageTables) -> None:
    frame = tables.a.join(tables.b, "id", "left_semi").select("amount")
    found = frame_lineage(frame, tables.reads)
    assert {item.dataset for item in found.inputs} == {"silver.a", "silver.b"}
    assert found.outside == ()


# Runs, under a policy that forbids the tag in gold.

FILES: dict[str, str | bytes] = {
    "definitions/policies/no_pii_in_gold.yaml": """\
policy: no_pii_in_gold
applies_to: gold
type: PII
expression: "forbid tag:pii"
""",
    **people_definitions("id: {type: long}", "mail: {type: string, tags: [pii]}"),
}
GOLD = """\
dataset: gold.contacts
owner: tests
domain: shop
parents: [silver.contacts]
build: {sql: sql/contacts.sql}
columns:
  contact: {type: string}
"""
SILVER = """\
dataset: silver.contacts
owner: tests
domain: shop
parents: [bronze.people]
build: {python: jobs/contacts.py:build}
columns:
  contact: {type: string}
"""


def people(folder: Path) -> Client:
    client = applied(folder, FILES)
    write_files(folder, a="id,mail\n1,ada@example.org\n")
    assert run(client, "bronze.people").version == 1
    return client


def in_gold(client: Client, folder: Path) -> tuple[RunStatus, str]:
    """What becomes of the contacts in gold, and what the policy says of them."""
    (folder / "sql").mkdir(exist_ok=True)
    (folder / "sql" / "contacts.sql").write_text("SELECT contact FROM silver.contacts\n")
    (folder / "definitions" / "gold").mkdir(exist_ok=True)
    (folder / "definitions" / "gold" / "contacts.yaml").write_text(GOLD)
    apply_again(client, folder)
    result = run(client, "gold.contacts")
    assert result.decision is not None
    (check,) = [c for c in result.decision.ruling.checks if c.kind is CheckKind.POLICY]
    assert (check.outcome is Outcome.FAIL) == (result.status is RunStatus.BLOCKED)
    return result.status, check.message


DERIVED = "column contact derives from bronze.people.mail, tagged pii"
READ = "column contact is of unknown lineage: bronze.people.mail was read, tagged pii"


def publish(client: Client, folder: Path, make: Callable[[Any, Any], DataFrame]) -> Client:
    """The contacts as a program publishes them."""
    from openlaketx.engine.spark.session import spark_session

    tx = openlaketx.connect(folder)
    tx.publish("silver.contacts", make(tx, spark_session({}).newSession())).raise_if_blocked()
    (row,) = client.reader.versions(DatasetName("silver.contacts"))
    assert [item.dataset for item in row.inputs] == ["bronze.people"]
    return client


def renamed(tx: openlaketx.Connection, spark: SparkSession) -> DataFrame:
    return tx.read(spark, "bronze.people").selectExpr("mail AS contact")


def collected(tx: openlaketx.Connection, spark: SparkSession) -> DataFrame:
    rows = tx.read(spark, "bronze.people").select("mail").collect()
    return spark.createDataFrame(rows, "contact string")


def test_a_frame_that_was_read_and_renamed_does_not_reach_gold(tmp_path: Path) -> None:
    client = publish(people(tmp_path), tmp_path, renamed)
    (edge,) = client.reader.column_lineage(DatasetName("silver.contacts"))
    assert (edge.column, edge.input, edge.input_column) == ("contact", "bronze.people", "mail")
    row = client.reader.versions(DatasetName("silver.contacts"))[0]
    assert [item.version for item in row.inputs] == [1]
    assert in_gold(client, tmp_path) == (RunStatus.BLOCKED, DERIVED)


def test_rows_that_another_connection_collected_do_not_reach_gold(tmp_path: Path) -> None:
    client, other = people(tmp_path), openlaketx.connect(tmp_path)
    publish(client, tmp_path, lambda _, spark: collected(other, spark))
    assert in_gold(client, tmp_path) == (RunStatus.BLOCKED, READ)


def test_sql_over_registered_tables_does_not_reach_gold(tmp_path: Path) -> None:
    def by_sql(tx: openlaketx.Connection, spark: SparkSession) -> DataFrame:
        spark.conf.set("spark.sql.runSQLOnFiles", "true")
        tx.register(spark)
        return spark.sql("SELECT lower(mail) AS contact FROM bronze.people")

    client = publish(people(tmp_path), tmp_path, by_sql)
    assert in_gold(client, tmp_path)[0] is RunStatus.BLOCKED


@pytest.mark.parametrize("open_session", [lambda spark: spark, in_the_newer_interface])
def test_files_of_a_table_that_a_program_reads_do_not_reach_gold(
    tmp_path: Path, open_session: Callable[[SparkSession], SparkSession]
) -> None:
    def from_files(tx: openlaketx.Connection, spark: SparkSession) -> DataFrame:
        files = str(tmp_path / "bronze" / "people" / "runs" / "*" / "*.parquet")
        return open_session(spark).read.parquet(files).selectExpr("mail AS contact")

    client = publish(people(tmp_path), tmp_path, from_files)
    assert in_gold(client, tmp_path) == (RunStatus.BLOCKED, READ)


def test_an_untagged_column_of_a_frame_reaches_gold(tmp_path: Path) -> None:
    def clean(tx: openlaketx.Connection, spark: SparkSession) -> DataFrame:
        return tx.read(spark, "bronze.people").selectExpr("cast(id AS string) AS contact")

    client = publish(people(tmp_path), tmp_path, clean)
    assert in_gold(client, tmp_path)[0] is RunStatus.SUCCESS


BUILDS = {
    "renames": ('inputs["bronze.people"].withColumnRenamed("mail", "contact").drop("id")', DERIVED),
    "collects": (
        'spark.createDataFrame(inputs["bronze.people"].select("mail").collect(), "contact string")',
        READ,
    ),
    "is clean": ('inputs["bronze.people"].selectExpr("cast(id AS string) AS contact")', ""),
}


@pytest.mark.parametrize("what", BUILDS)
def test_a_python_build_passes_tags_on(tmp_path: Path, what: str) -> None:
    expression, message = BUILDS[what]
    (tmp_path / "jobs").mkdir()
    code = f"def build(spark, inputs):\n    return {expression}\n"
    (tmp_path / "jobs" / "contacts.py").write_text(code)
    client = people(tmp_path)
    (tmp_path / "definitions" / "silver").mkdir(exist_ok=True)
    (tmp_path / "definitions" / "silver" / "contacts.yaml").write_text(SILVER)
    apply_again(client, tmp_path)
    assert run(client, "silver.contacts").version == 1
    status, found = in_gold(client, tmp_path)
    assert status is (RunStatus.BLOCKED if message else RunStatus.SUCCESS)
    assert found == (message or "no column carries the tag pii")


FLAT = """\
target: flat
location: flat
zone: flat
transform: SELECT info.mail AS contact FROM batch
"""


def test_a_field_of_a_struct_passes_the_tags_of_its_column_through_a_transform(
    tmp_path: Path,
) -> None:
    client = people(tmp_path)
    silver = SILVER.replace("{python: jobs/contacts.py:build}", "{sql: sql/nested.sql}")
    (tmp_path / "sql").mkdir()
    nested = "SELECT struct(mail) AS info FROM bronze.people\n"
    (tmp_path / "sql" / "nested.sql").write_text(nested)
    for folder, text in (("targets/flat", FLAT), ("silver/contacts", f"{silver}target: flat\n")):
        place = tmp_path / "definitions" / f"{folder}.yaml"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    apply_again(client, tmp_path)
    assert run(client, "silver.contacts").version == 1
    assert in_gold(client, tmp_path) == (RunStatus.BLOCKED, DERIVED)
