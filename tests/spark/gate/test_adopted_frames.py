"""Values of an adopted, partitioned table are in its log and in the names of its folders: frames
made of them carry the tags of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, SparkSession

import openlaketx
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import CheckKind, RunStatus
from openlaketx.engine.locations import spark_read_path
from tests.support.lakes.foreign_tables import adopt
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run
from tests.support.projects.people import people_definitions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

POLICY = """\
policy: no_pii_in_gold
applies_to: gold
type: PII
expression: "forbid tag:pii"
"""
PEOPLE = """\
dataset: silver.people
owner: tests
domain: shop
build: frame
load: {{type: FULL, partition_by: [mail, country]}}
location: {location}
columns:
  id: {{type: long}}
  mail: {{type: string, tags: [pii]}}
  country: {{type: string}}
"""
CONTACTS = """\
dataset: gold.contacts
owner: tests
domain: shop
parents: [silver.people]
build: frame
columns:
  contact: {type: string}
"""
MAIL = "ada's\\u0024@example.org"
DERIVED = "column contact derives from silver.people.mail, tagged pii"
READ = "column contact is of unknown lineage: silver.people.mail was read, tagged pii"
CLEAN = "no column carries the tag pii"
Frame = Callable[[openlaketx.Connection, SparkSession], DataFrame]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("adopted")
    place = folder / "elsewhere"
    rows = {"id": [1, 2], "mail": [MAIL, None], "country": ["UK", "UK"]}
    table = pa.table(rows, pa.schema({"id": pa.int64(), "mail": pa.string(), "country": "string"}))
    write_deltalake(place, table, partition_by=["mail", "country"])
    files = {
        "definitions/policies/no_pii_in_gold.yaml": POLICY,
        "definitions/silver/people.yaml": PEOPLE.format(location=place),
        "definitions/gold/contacts.yaml": CONTACTS,
    }
    client = applied(folder / "lake", files)
    assert adopt(client, DatasetName("silver.people")).status is RunStatus.SUCCESS
    return client


@pytest.fixture(params=["delta", "files"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """Whose views read through Delta, or the files."""
    session = spark.newSession()
    session.conf.set("spark.sql.runSQLOnFiles", "true")
    if request.param == "files":
        session.conf.set("spark.sql.catalog.spark_catalog", "builtin")
    yield session
    for layer in ("silver", "gold"):
        session.sql(f"DROP DATABASE IF EXISTS {layer} CASCADE")


def registered(query: str) -> Frame:
    def frame(tx: openlaketx.Connection, session: SparkSession) -> DataFrame:
        tx.register(session)
        return session.sql(query)

    return frame


def read(*expressions: str) -> Frame:
    return lambda tx, session: tx.read(session, "silver.people").selectExpr(*expressions)


def path_of_file(tx: openlaketx.Connection, session: SparkSession) -> DataFrame:
    files = tx.read(session, "silver.people").inputFiles()
    decoded = [unquote(file.removeprefix("file:")) for file in files]
    rows = session.read.schema("id long").parquet(*map(spark_read_path, decoded))
    return rows.selectExpr("_metadata.file_path AS contact")


def renamed(tx: openlaketx.Connection, session: SparkSession) -> DataFrame:
    """The text of the view, with names in another order."""
    tx.register(session)
    described = session.sql("DESCRIBE EXTENDED silver.people").where("col_name = 'View Text'")
    session.sql(f"CREATE VIEW silver.own (mail, id, country) AS {described.first()[1]}")
    return session.sql("SELECT id AS contact FROM silver.own")


def from_variable(tx: openlaketx.Connection, session: SparkSession) -> DataFrame:
    tx.read(session, "silver.people").createOrReplaceTempView("p")
    session.sql("DECLARE VARIABLE found STRING")
    session.sql("SET VAR found = (SELECT max(mail) FROM p)")
    return session.sql("EXECUTE IMMEDIATE 'SELECT :v AS contact FROM p' USING found AS v")


NAME = "regexp_extract(input_file_name(), 'mail=([^/]*)', 1) AS contact"
FRAMES: dict[str, tuple[Frame, str]] = {
    "read": (read("mail AS contact"), DERIVED),
    "registered": (registered("SELECT mail AS contact FROM silver.people"), DERIVED),
    "registered, in a subquery": (
        registered("SELECT upper(m) AS contact FROM (SELECT mail AS m FROM silver.people)"),
        DERIVED,
    ),
    "registered under other names": (renamed, DERIVED),
    "name of the file": (read(NAME), READ),
    "name of the file of a view": (registered(f"SELECT {NAME} FROM silver.people"), READ),
    "path of the file": (path_of_file, READ),
    "name of a file of another scan": (
        lambda tx, session: (
            session.range(1)
            .selectExpr("input_file_name() AS contact")
            .crossJoin(tx.read(session, "silver.people").select("id"))
            .select("contact")
        ),
        READ,
    ),
    "literal of a variable": (from_variable, READ),
    "untagged partition": (read("country AS contact"), CLEAN),
    "untagged partition of a view": (
        registered("SELECT country AS contact FROM silver.people"),
        CLEAN,
    ),
    "untagged column of a view": (
        registered("SELECT cast(id AS string) AS contact FROM silver.people"),
        CLEAN,
    ),
}


def publish(client: Client, frame: Frame, session: SparkSession) -> tuple[RunStatus, str]:
    """What becomes of the frame in gold, and what the policy says of it."""
    tx = openlaketx.connect(client.lake)
    result = tx.publish("gold.contacts", frame(tx, session))
    assert result.decision is not None
    (check,) = [c for c in result.decision.ruling.checks if c.kind is CheckKind.POLICY]
    return result.status, check.message


@pytest.mark.parametrize("what", FRAMES)
def test_partition_values_carry_the_tags_of_their_columns(
    people: Client, session: SparkSession, what: str
) -> None:
    frame, message = FRAMES[what]
    status = RunStatus.SUCCESS if message == CLEAN else RunStatus.BLOCKED
    assert publish(people, frame, session) == (status, message)


def test_a_view_has_the_values_of_the_log(people: Client, session: SparkSession) -> None:
    session.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    frame = registered("SELECT id, mail, country FROM silver.people ORDER BY id")
    found = frame(openlaketx.connect(people.lake), session).collect()
    assert [tuple(row) for row in found] == [(1, MAIL, "UK"), (2, None, "UK")]


# A column whose name is that of Spark's own.

FACTS = "'a' AS file_path, 'b' AS file_name, 1L AS file_size, now() AS file_modification_time"
STRUCT = (
    "struct<file_path:string,file_name:string,file_size:long,file_modification_time:timestamp,"
    "mail:string>"
)
NAMED: dict[str, str | bytes] = {
    "definitions/policies/no_pii_in_gold.yaml": POLICY,
    **people_definitions("mail: {type: string, tags: [pii]}"),
    "definitions/silver/people.yaml": f"""\
dataset: silver.people
owner: tests
domain: shop
parents: [bronze.people]
build: {{sql: sql/people.sql}}
columns:
  _metadata: {{type: "{STRUCT}", tags: [pii]}}
""",
    "definitions/gold/contacts.yaml": CONTACTS,
    "sql/people.sql": f"SELECT struct({FACTS}, mail) AS _metadata FROM bronze.people\n",
}


def test_a_column_named_as_the_facts_of_files_keeps_its_tags(
    tmp_path: Path, spark: SparkSession
) -> None:
    client = applied(tmp_path, NAMED)
    write_files(tmp_path, a="mail\nada@example.org\n")
    for name in ("bronze.people", "silver.people"):
        assert run(client, name).status is RunStatus.SUCCESS
    session = spark.newSession()
    found = publish(client, read("_metadata.mail AS contact"), session)
    assert found == (
        RunStatus.BLOCKED,
        "column contact derives from bronze.people.mail and silver.people._metadata, tagged pii",
    )

    def path(tx: openlaketx.Connection, session: SparkSession) -> DataFrame:
        frame = tx.read(session, "silver.people")
        return frame.select(frame.metadataColumn("_metadata")["file_path"].alias("contact"))

    assert publish(client, path, session) == (RunStatus.SUCCESS, CLEAN)
