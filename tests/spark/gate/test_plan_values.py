"""Plans that hold values of rows, or read them under another name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import StringType, StructField, StructType

from openlaketx.extract.frame_lineage import frame_lineage
from tests.support.lakes.lineage_tables import LineageTables

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> LineageTables:
    return LineageTables(spark.newSession(), tmp_path)


def test_literals_are_unknown_while_the_session_has_variables(tables: LineageTables) -> None:
    sql = tables.spark.sql
    query = "SELECT id, 'EUR' AS c, mail || '!' AS m, cast(NULL AS string) AS n FROM a"
    exact = {"id": {"a.id"}, "c": set(), "m": {"a.mail"}, "n": set()}
    assert tables.followed(sql(query)) == exact
    sql("DECLARE VARIABLE found STRING")
    sql("SET VAR found = (SELECT max(mail) FROM a)")
    made = sql("EXECUTE IMMEDIATE 'SELECT id, :v AS z FROM b' USING found AS v")
    assert tables.followed(made) == {"id": {"b.id"}, "z": None}
    assert tables.followed(sql(query)) == {"id": {"a.id"}, "c": None, "m": None, "n": set()}
    sql("DROP TEMPORARY VARIABLE found")
    assert tables.followed(sql(query)) == exact


PIVOTED: dict[str, Callable[[LineageTables], DataFrame]] = {
    "alone": lambda t: t.a.groupBy().pivot("mail").count().unpivot([], None, "z", "v"),
    "in groups": lambda t: t.a.groupBy("id").pivot("mail").count().unpivot("id", None, "z", "v"),
    "in a crosstab": lambda t: t.a.crosstab("id", "mail").unpivot("id_mail", None, "z", "v"),
}


@pytest.mark.parametrize("how", PIVOTED)
def test_values_that_became_names_keep_their_origin(tables: LineageTables, how: str) -> None:
    found = tables.followed(PIVOTED[how](tables))["z"]
    assert found is None or "a.mail" in found


def test_a_column_that_the_version_does_not_declare_is_unknown(tables: LineageTables) -> None:
    files = tables.a.inputFiles()
    frame = tables.spark.read.schema("id long, other string").parquet(*files)
    assert tables.followed(frame) == {"id": {"a.id"}, "other": None}


def test_a_column_of_folder_names_is_unknown(tables: LineageTables) -> None:
    files = tables.a.inputFiles()
    (folder,) = {Path(file.removeprefix("file:")).parent for file in files}
    renamed = folder.rename(folder.parent / "phone=ada")
    found = [str(path) for path in renamed.glob("*.parquet")]
    tables.add("a", found, "id", "phone")
    frame = tables.spark.read.option("basePath", str(folder.parent)).parquet(*found)
    assert tables.followed(frame.select("id", "phone")) == {"id": {"a.id"}, "phone": None}
    name = frame.selectExpr("input_file_name() AS n", "_metadata.file_size AS s")
    assert tables.followed(name) == {"n": None, "s": None}


def test_columns_that_are_read_by_the_ids_of_fields_are_unknown(tables: LineageTables) -> None:
    numbered = StructType([StructField("id", StringType(), True, {"parquet.field.id": 2})])
    frame = tables.spark.read.schema(numbered).parquet(*tables.a.inputFiles())
    assert tables.followed(frame) == {"id": None}


DECIDED = (
    "SELECT (SELECT max(id) FROM (SELECT id FROM range(9) EXCEPT SELECT amount FROM a)) z",
    "SELECT 4 NOT IN (SELECT id FROM range(9) EXCEPT SELECT amount FROM a) z",
    "WITH c AS (SELECT r.id FROM range(9) r JOIN a ON r.id = amount)"
    " SELECT (SELECT max(id) FROM c) z",
    "SELECT (SELECT max(id) FROM (SELECT id, row_number() OVER (ORDER BY (SELECT max(amount) FROM"
    " a)) n FROM range(9)) WHERE n = 1) z",
    "SELECT (SELECT max(id) FROM (SELECT id FROM range(9) QUALIFY row_number() OVER (PARTITION BY"
    " (SELECT max(amount) FROM a) ORDER BY id) = 1)) z",
    "SELECT (SELECT max(id) FROM (SELECT id FROM a ORDER BY amount LIMIT 1)) z",
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT amount FROM a)) z",
    "SELECT (SELECT count(*) FROM (SELECT explode(sequence(1, amount)) FROM a)) z",
    "SELECT (SELECT max(r.id) FROM range(9) r JOIN LATERAL (SELECT amount FROM a) x"
    " ON x.amount = r.id) z",
)


@pytest.mark.parametrize("text", DECIDED)
def test_what_decides_on_rows_of_a_subquery_makes_its_value(
    tables: LineageTables, text: str
) -> None:
    found = tables.followed(tables.spark.sql(text))["z"]
    assert found is not None
    assert "a.amount" in found


def test_what_decides_on_rows_of_a_query_makes_no_value(tables: LineageTables) -> None:
    text = "SELECT id z FROM a WHERE mail = '1' ORDER BY amount LIMIT 1"
    assert tables.followed(tables.spark.sql(text)) == {"z": {"a.id"}}


def test_rows_and_code_of_the_program_are_inputs_that_are_not_known(tables: LineageTables) -> None:
    made = functions.udf(lambda value: value, "string")
    plain = tables.a.where(made("mail") == "1").select("id")
    found = {
        "none": plain,
        "rows created by the program": tables.spark.range(1).select(functions.lit("x").alias("z")),
        "code of the program": tables.a.select(made("mail").alias("z")),
    }
    for word, frame in found.items():
        assert frame_lineage(frame, tables.reads).outside == (() if word == "none" else (word,))
