"""Columns that SQL builds read must be declared by their parents."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.sql.sql_builds import check_columns, check_sql, rewrite_tables
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadSql, InvalidDefinitions
from lakeguard_sdk.model.definitions import Definitions
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.registries import small_registry

PEOPLE, CITIES = DatasetName("silver.people"), DatasetName("silver.cities")
TABLES = {
    PEOPLE: KnownTable(("id", "email", "city", "born", "tags", "info", "amount")),
    CITIES: KnownTable(("id", "name", "city")),
}


def missed(text: str, tables: dict[DatasetName, KnownTable] = TABLES) -> list[str]:
    """The characters that each problem points at, and what is suggested."""
    return [
        text[item.offset : item.offset + item.length] + item.hint
        for item in check_columns(text, tables)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT emial FROM silver.people", ["emial; did you mean email?"]),
        ("SELECT p.`cty` FROM silver.people p", ["`cty`; did you mean city?"]),
        ("SELECT id FROM silver.people WHERE zip = 1", ["zip"]),
        ("SELECT id AS x FROM silver.people WHERE x = 1", ["x"]),
        ("SELECT id FROM silver.people GROUP BY idd", ["idd; did you mean id?"]),
        ("SELECT id FROM silver.people ORDER BY borm", ["borm; did you mean born?"]),
        (
            "SELECT 1 FROM silver.people p JOIN silver.cities c ON p.idd = c.id",
            ["idd; did you mean id?"],
        ),
        (
            "SELECT (SELECT max(nam) FROM silver.cities c WHERE c.id = p.id) FROM silver.people p",
            ["nam; did you mean name?"],
        ),
        ("SELECT year(bron) FROM silver.people", ["bron; did you mean born?"]),
        ("SELECT transform(tags, x -> x + y) FROM silver.people", ["y"]),
        (
            "WITH t AS (SELECT id, emial FROM silver.people) SELECT id, email FROM t",
            ["emial; did you mean email?"],
        ),
        ("WITH t AS (SELECT id FROM silver.people) SELECT t.email FROM t", ["email"]),
    ],
)
def test_a_name_that_is_no_column_is_found(text: str, expected: list[str]) -> None:
    assert check_sql(text, frozenset(TABLES)) == ()
    assert missed(text) == expected


SPARK_RUNS = (
    "SELECT timestampdiff(HOUR, born, born), dateadd(day, 1, born) FROM silver.people",
    "SELECT extract(day FROM born), trim(BOTH 'x' FROM email) FROM silver.people",
    "SELECT current_date, current_timestamp, localtimestamp FROM silver.people",
    "SELECT id, count(*) FROM silver.people GROUP BY ALL ORDER BY ALL",
    "SELECT id, count(*), grouping__id FROM silver.people GROUP BY id WITH ROLLUP",
    "SELECT mask(email, lowerChar => 'q'), email COLLATE UTF8_LCASE FROM silver.people",
    "SELECT aggregate(tags, 0, (acc, x) -> acc + x + id) FROM silver.people",
    "SELECT id AS a, a + 1 AS b FROM silver.people HAVING a > 1 ORDER BY email",
    "(SELECT id FROM silver.people) ORDER BY email",
    "SELECT p.id FROM silver.people p UNION SELECT id FROM silver.cities ORDER BY p.id",
    "SELECT `max(id)` FROM (SELECT max(id) FROM silver.people)",
    "SELECT abc FROM (SELECT 'abc' FROM silver.people)",
    "SELECT pos, col FROM (SELECT posexplode(tags) FROM silver.people)",
    "SELECT x FROM silver.people LATERAL VIEW explode(tags) t AS x",
    "SELECT * FROM silver.people PIVOT (sum(amount) FOR city IN ('a' AS aa)) WHERE aa > 1",
    "SELECT n, v FROM silver.people UNPIVOT (v FOR n IN (email, city))",
    "SELECT session_window, count(*) FROM silver.people GROUP BY session_window(born, '1 hour')",
    "SELECT 1 FROM silver.people p WHERE EXISTS (SELECT 1 FROM silver.cities WHERE email = name)",
    "SELECT ID, People.Email FROM silver.people",
    "SELECT id IS DISTINCT FROM 1 AND id IS NOT DISTINCT FROM 2 FROM silver.people",
)


def test_a_column_with_a_letter_that_folds_in_several_ways_is_usable() -> None:
    tables = {PEOPLE: KnownTable(("id", "stra\u00dfe"))}
    for text in (
        "SELECT `stra\u00dfe` FROM silver.people",
        "SELECT p.stra\u00dfe, id FROM silver.people p",
    ):
        assert check_sql(text, frozenset(tables)) == ()
        assert missed(text, tables) == []


FIELDS_OF_A_STRUCT = (
    "SELECT info.email FROM silver.people",
    "SELECT info.* FROM silver.people",
    "SELECT Info.address.street, `info`.email FROM silver.people WHERE info.age > 3",
    "SELECT x FROM (SELECT info.email AS x FROM silver.people p) ORDER BY x",
)


@pytest.mark.parametrize("text", FIELDS_OF_A_STRUCT)
def test_a_field_of_a_struct_needs_no_table(text: str) -> None:
    columns = TABLES[PEOPLE].columns
    assert check_sql(text, frozenset(TABLES), columns) == ()
    assert check_sql(text, frozenset(TABLES), columns=None) == ()
    assert missed(text) == []
    (found, *_) = check_sql(text, frozenset(TABLES), ["id"])
    assert "is not a table or column of this SELECT" in found.problem
    assert "`v` AS `people`" in rewrite_tables(
        text.replace(" p)", ")"), {PEOPLE: "v"}, columns=columns
    )


def test_a_name_where_no_column_stands_is_no_field_of_a_struct() -> None:
    for columns in (["parquet"], None):
        (found, *_) = check_sql("SELECT id FROM parquet.`/x`", frozenset(TABLES), columns)
        assert "not a dataset" in found.problem


@pytest.mark.parametrize("text", SPARK_RUNS)
def test_what_spark_runs_is_not_refused(text: str) -> None:
    assert check_sql(text, frozenset(TABLES)) == ()
    assert missed(text) == []


def test_a_table_that_may_have_more_columns_is_not_judged() -> None:
    more = {PEOPLE: KnownTable(("id", "city"), has_more=True), CITIES: TABLES[CITIES]}
    text = "SELECT p.age, zip, c.zip FROM silver.people p JOIN silver.cities c ON p.id = c.id"
    assert missed(text, more) == [], "people may have a struct c with a field zip"
    assert missed("SELECT x.zip FROM (SELECT id FROM silver.people) x", more) == ["zip"]


# Through the plan, which validate, plan and apply make.

BRONZE = """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
schema: {profile: %s}
columns:
  id: {type: integer}
  amount: {type: double}
%s"""
SILVER = """\
dataset: silver.orders
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
load: {type: FULL}
columns:
  id: {type: integer}
  total: {type: double}
"""
SQL = "SELECT\n  id,\n  amuont AS total\nFROM bronze.orders\n"
PROFILE = "profile: %s\nauto_add_columns: %s\n"


def folder(tmp_path: Path, sql: str, profile: str = "default", more: str = "") -> Definitions:
    files = {
        "definitions/sources/orders.yaml": "source: orders\nformat: parquet\npath: in/*.parquet\n",
        "definitions/bronze/orders.yaml": BRONZE % (profile, more),
        "definitions/silver/orders.yaml": SILVER,
        "definitions/profiles/adding.yaml": PROFILE % ("adding", "true"),
        "definitions/profiles/closed.yaml": PROFILE % ("closed", "false"),
        "sql/orders.sql": sql,
    }
    write_folder(tmp_path, files)
    return load_folder(tmp_path)


@pytest.mark.parametrize("profile", ["default", "strict", "closed"])
def test_the_plan_points_into_the_sql(tmp_path: Path, profile: str) -> None:
    with pytest.raises(InvalidDefinitions) as found:
        make_plan(folder(tmp_path, SQL, profile), RegistryState())
    (error,) = found.value.errors
    assert isinstance(error, BadSql)
    place = error.place
    assert (place.file, place.line, place.column, place.length) == ("sql/orders.sql", 3, 3, 6)
    assert "'amuont' is not a column" in str(error)
    assert str(error).endswith("did you mean amount?")


def test_the_user_of_the_session_is_reported_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitions) as found:
        make_plan(folder(tmp_path, "SELECT user AS id FROM bronze.orders"), RegistryState())
    (error,) = found.value.errors
    assert "user depends on the session" in str(error)


@pytest.mark.parametrize("profile", ["additive", "permissive", "adding"])
def test_columns_that_a_profile_may_add_are_not_missed(tmp_path: Path, profile: str) -> None:
    assert make_plan(folder(tmp_path, SQL, profile), RegistryState()).steps


def test_the_plan_knows_structs_by_the_columns_of_parents(tmp_path: Path) -> None:
    info = '  info: {type: "struct<total: double>"}\n'
    text = "SELECT id, info.total FROM bronze.orders"
    assert make_plan(folder(tmp_path, text, more=info), RegistryState()).steps
    assert make_plan(folder(tmp_path, text, "additive"), RegistryState()).steps
    with pytest.raises(InvalidDefinitions) as found:
        make_plan(folder(tmp_path, text), RegistryState())
    (error,) = found.value.errors
    assert (error.place.file, error.place.column, error.place.length) == ("sql/orders.sql", 12, 4)
    assert "'info' is not a table or column of this SELECT" in str(error)


def test_a_misspelt_parent_is_found_where_it_is_written(tmp_path: Path) -> None:
    right = SQL.replace("amuont", "amount")
    folder(tmp_path, right)
    written = tmp_path / "definitions/silver/orders.yaml"
    written.write_text(SILVER.replace("bronze.orders", "bronze.ordes"))
    with pytest.raises(InvalidDefinitions) as found:
        load_folder(tmp_path)
    first, second = found.value.errors
    assert (first.place.file, first.place.line) == ("definitions/silver/orders.yaml", 4)
    assert "does not read bronze.ordes; did you mean bronze.orders?" in str(first)
    assert (second.place.file, second.place.line, second.place.column) == ("sql/orders.sql", 4, 6)
    assert "bronze.orders is not a declared parent" in str(second)


def test_a_misspelt_table_is_found_in_the_sql(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitions) as found:
        folder(tmp_path, "SELECT id, uper(id) FROM bronze.ordes")
    function, table = found.value.errors
    assert (table.place.file, table.place.line, table.place.column) == ("sql/orders.sql", 1, 26)
    assert "bronze.ordes is not a declared parent; did you mean bronze.orders?" in str(table)
    assert function.place.column == 12
    assert "uper() is not a function; did you mean upper?" in str(function)


def test_a_parent_cannot_lose_a_column_that_is_read(tmp_path: Path) -> None:
    with small_registry(tmp_path) as registry:
        right = SQL.replace("amuont", "price")
        registry.register(folder(tmp_path, right, more="  price: {type: double}\n"))
        lost = folder(tmp_path, right)
        with pytest.raises(InvalidDefinitions, match="1 error") as found:
            registry.plan(lost)
        (error,) = found.value.errors
        assert (error.place.file, error.place.line) == ("sql/orders.sql", 3)
        registry.register(folder(tmp_path, SQL.replace("amuont", "amount")))
