"""Plans that hold values of rows, or read them under another name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

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
