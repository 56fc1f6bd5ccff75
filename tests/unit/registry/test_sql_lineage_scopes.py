"""Relations in parentheses, names that Spark gives to relations, and which column a name finds."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.sql_builds import check_columns
from tests.unit.registry.test_sql_lineage_names import EVERYTHING, TABLES, made_of

EMAIL = "silver.people.email"
PEOPLE = "(SELECT email AS e FROM silver.people)"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT email AS z FROM ((SELECT '' AS a) CROSS JOIN silver.people)",
        "SELECT z FROM ((SELECT 'a' AS z) NATURAL RIGHT JOIN"
        " (SELECT email AS z FROM silver.people))",
        "WITH t AS (SELECT email AS z FROM silver.people)"
        " SELECT z FROM ((SELECT 'a' AS z) NATURAL FULL JOIN t)",
        "WITH t AS (SELECT email AS z FROM silver.people)"
        " SELECT z FROM ((SELECT 'a' AS a) x JOIN t)",
        f"SELECT l.z FROM (SELECT 'k' AS e) t, LATERAL (SELECT t.e AS z FROM ({PEOPLE} t)) l",
        f"SELECT x.e AS z FROM (({PEOPLE} t) x)",
        f"SELECT t.e AS z FROM ((({PEOPLE}) t CROSS JOIN (SELECT 1 AS one)))",
        "SELECT v AS z FROM (((SELECT email FROM silver.people)) UNPIVOT (v FOR n IN (email)))",
    ],
)
def test_every_relation_in_parentheses_counts(text: str) -> None:
    assert EMAIL in made_of(text)


@pytest.mark.parametrize("row", ["((1, 2))", "struct(1, 2)", "(((1, 2)))", "(struct(1, 2))"])
def test_a_struct_that_is_a_row_of_values_has_unknown_columns(row: str) -> None:
    """Spark makes a column of each of its fields, so the others move on."""
    text = (
        f"SELECT col2 AS z FROM (SELECT * FROM VALUES {row} v, (SELECT 3 AS p, 4 AS c) t"
        " UNION ALL SELECT * FROM (SELECT id AS a, email AS b FROM silver.people) s,"
        f" VALUES {row} w)"
    )
    assert EMAIL in made_of(text)


def test_an_alias_after_a_value_is_that_of_the_relation() -> None:
    text = "SELECT v.col2 AS z FROM (VALUES struct('a', 'b') AS v)"
    assert made_of(text) == EVERYTHING
    assert check_columns(text, TABLES) == ()


def test_rows_of_values_are_followed_exactly() -> None:
    text = "SELECT col2 AS z FROM VALUES (1, upper('a')), (2, ('b')) JOIN silver.people"
    assert made_of(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT t.e AS z FROM ({PEOPLE} t CROSS JOIN silver.orders o)",
        "SELECT p.email AS z FROM (((silver.people p)))",
        "SELECT p.email AS z FROM range(3) CROSS JOIN ((silver.people p))",
    ],
)
def test_a_join_in_parentheses_is_followed_exactly(text: str) -> None:
    assert made_of(text) == {EMAIL}


@pytest.mark.parametrize(
    "call", ["range(1)", "explode(array(1))", "stack(1, 1)", "inline(array())"]
)
@pytest.mark.parametrize("column", ["{name}.id AS z", "{name}.*"])
def test_a_table_function_has_no_name_of_its_own(call: str, column: str) -> None:
    name = call.partition("(")[0]
    struct = f"(SELECT named_struct('id', email) AS {name} FROM silver.people) q"
    shown = column.format(name=name)
    assert EMAIL in made_of(
        f"SELECT {shown} FROM {call}, {struct}", "z" if "AS z" in shown else "id"
    )


def test_a_view_without_a_name_is_called_as() -> None:
    inner = "SELECT `as`.c AS z FROM silver.people LATERAL VIEW explode(tags) AS c"
    assert "silver.people.tags" in made_of(
        f"SELECT l.z FROM (SELECT 'k' AS c) `as`, LATERAL ({inner}) l"
    )


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN"])
def test_a_field_of_a_column_comes_before_a_merged_key(join: str) -> None:
    left = "(SELECT 'k' AS id, named_struct('id', email) AS o FROM silver.people) p"
    assert EMAIL in made_of(f"SELECT o.id AS z FROM {left} {join} (SELECT 'k' AS id) o USING (id)")
    natural = join.replace("JOIN", "").strip()
    assert EMAIL in made_of(
        f"SELECT o.id AS z FROM {left} NATURAL {natural} JOIN (SELECT 'k' AS id) o"
    )


def test_a_merged_key_is_found_where_no_column_has_the_name() -> None:
    text = "SELECT o.id AS z FROM silver.people p JOIN silver.orders o USING (id)"
    assert made_of(text) == {"silver.orders.id"}


def test_the_name_that_spark_gives_to_a_subquery_is_not_followed() -> None:
    name = "__auto_generated_subquery_name"
    struct = f"(SELECT named_struct('e', 'k') AS {name}) q"
    assert made_of(f"SELECT {name}.e AS z FROM {PEOPLE}, {struct}") == EVERYTHING
