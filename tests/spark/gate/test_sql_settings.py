"""SQL has one meaning in every run, whatever the settings of the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from openlaketx.engine.spark.run_settings import RUN_SETTINGS, settle
from openlaketx.engine.spark.session import run_session
from tests.support.projects.folders import applied
from tests.support.projects.people import people_definitions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


class Meaning(NamedTuple):
    """What a query returns in a run; with another value of the setting, it would not."""

    query: str
    expected: list[tuple[object, ...]] | str
    """Rows, or the beginning of the error."""
    other: str = "true"


MEANINGS = {
    "spark.sql.ansi.doubleQuotedIdentifiers": Meaning(
        'SELECT "mail" AS x FROM people', [("mail",)]
    ),
    "spark.sql.ansi.relationPrecedence": Meaning(
        "SELECT * FROM (SELECT 1 m) a, (SELECT 2 k) b JOIN (SELECT 1 m, 3 n) c USING (m)",
        [(1, 2, 3)],
    ),
    "spark.sql.parser.quotedRegexColumnNames": Meaning("SELECT `mai.` FROM people", "[UNRESOLVED"),
    "spark.sql.parser.escapedStringLiterals": Meaning(r"SELECT 'a\tb'", [("a\tb",)]),
    "spark.sql.parser.singleCharacterPipeOperator.enabled": Meaning(
        "SELECT id FROM people | EXTEND mail AS x", "\n[PARSE_SYNTAX_ERROR"
    ),
    "spark.sql.caseSensitive": Meaning("SELECT MAIL FROM people", [("ada@x",)]),
    "spark.sql.variable.substitute": Meaning(
        "SELECT '${spark.app.hidden}'", [("${spark.app.hidden}",)]
    ),
    "spark.sql.groupByOrdinal": Meaning(
        "SELECT mail FROM people GROUP BY 1", [("ada@x",)], "false"
    ),
    "spark.sql.groupByAliases": Meaning(
        "SELECT upper(mail) u FROM people GROUP BY u", [("ADA@X",)], "false"
    ),
    "spark.sql.lateralColumnAlias.enableImplicitResolution": Meaning(
        "SELECT id AS a, a + 1 AS b FROM people", [(1, 2)], "false"
    ),
    "spark.sql.legacy.setopsPrecedence.enabled": Meaning(
        "SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3", [(1,)]
    ),
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": Meaning(
        "SELECT 1 FROM people HAVING max(id) = 1", [(1,)]
    ),
    "spark.sql.legacy.consecutiveStringLiterals.enabled": Meaning("SELECT 'a''b'", [("a'b",)]),
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": Meaning(
        "SELECT typeof(1E2)", [("double",)]
    ),
    "spark.sql.legacy.negativeIndexInArrayInsert": Meaning(
        "SELECT array_insert(array(1, 2), -1, 3)", [([1, 2, 3],)]
    ),
    "spark.sql.function.concatBinaryAsString": Meaning(
        "SELECT typeof(concat(x'61', x'62'))", [("binary",)]
    ),
    "spark.sql.timestampType": Meaning(
        "SELECT typeof(TIMESTAMP '2026-01-01 00:00:00')", [("timestamp",)], "TIMESTAMP_NTZ"
    ),
    "spark.sql.mapKeyDedupPolicy": Meaning(
        "SELECT map_concat(map(id, 1), map(id, 2)) FROM people", "[DUPLICATED_MAP_KEY", "LAST_WIN"
    ),
}


def answer(session: SparkSession, query: str) -> list[tuple[object, ...]] | str:
    try:
        return [tuple(row) for row in session.sql(query).collect()]
    except Exception as error:  # noqa: BLE001 - any error of Spark is an answer
        return str(error)


def same(found: list[tuple[object, ...]] | str, expected: list[tuple[object, ...]] | str) -> bool:
    if isinstance(found, str) and isinstance(expected, str):
        return found.startswith(expected)
    return found == expected


@pytest.mark.parametrize("key", MEANINGS)
def test_a_query_means_the_same_in_every_run(spark: SparkSession, key: str) -> None:
    session, (query, expected, other) = run_session(spark), MEANINGS[key]
    session.sql("SELECT 1 AS id, 'ada@x' AS mail").createOrReplaceTempView("people")
    session.conf.set("spark.app.hidden", "mail")
    session.conf.set(key, other)
    assert not same(answer(session, query), expected), "the setting has no influence"
    settle(session)
    found = answer(session, query)
    assert same(found, expected), found


def test_only_settings_with_influence_on_values_are_reset(spark: SparkSession) -> None:
    session = run_session(spark)
    session.conf.set("spark.sql.legacy.of_another_spark", "true")
    session.conf.set("spark.sql.legacy.castComplexTypesToString.enabled", "true")
    session.conf.set("spark.sql.shuffle.partitions", "3")
    settle(session)
    assert session.conf.get("spark.sql.legacy.castComplexTypesToString.enabled") == "false"
    assert session.conf.get("spark.sql.shuffle.partitions") == "3"
    assert {key: session.conf.get(key) for key in RUN_SETTINGS} == RUN_SETTINGS


FILES: dict[str, str | bytes] = {
    "lakeguard.toml": """\
[env.dev.spark]
"spark.sql.ansi.doubleQuotedIdentifiers" = "true"
"spark.sql.legacy.consecutiveStringLiterals.enabled" = "true"
"spark.sql.sources.useV1SourceList" = ""
""",
    "in/a.csv": "id,mail\n1,ada@example.org\n",
    "sql/contacts.sql": "SELECT \"mail\" AS contact, 'a''b' AS t FROM bronze.people\n",
    **people_definitions("id: {type: long}", "mail: {type: string, tags: [pii]}"),
    "definitions/silver/contacts.yaml": """\
dataset: silver.contacts
owner: tests
domain: shop
parents: [bronze.people]
build: {sql: sql/contacts.sql}
columns:
  contact: {type: string}
  t: {type: string}
""",
}


def test_options_of_an_environment_do_not_change_the_meaning_of_sql(tmp_path: Path) -> None:
    applied(tmp_path, FILES)
    done = subprocess.run(
        [sys.executable, "-m", "lakeguard.cli.main", "run", "--all", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDEVMODE": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    files = list((tmp_path / "silver" / "contacts").rglob("*.parquet"))
    assert [pq.read_table(file).to_pylist() for file in files] == [
        [{"contact": "mail", "t": "a'b"}]
    ]
