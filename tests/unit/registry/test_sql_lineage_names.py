"""Names that Spark gives to columns without an alias, and the scope that a name is taken from."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.lineage import column_lineage
from lakeguard.registry.sql.sql_builds import check_columns
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import Column, TableSchema

COLUMNS = {
    DatasetName("silver.people"): ("email", "id", "city", "info", "tags"),
    DatasetName("silver.orders"): ("id", "amount", "props"),
}
SCHEMAS = {
    name: TableSchema(columns=tuple(Column(name=each, type="string") for each in columns))
    for name, columns in COLUMNS.items()
}
TABLES = {name: KnownTable(columns) for name, columns in COLUMNS.items()}
EVERYTHING = {f"{name}.{column}" for name, columns in COLUMNS.items() for column in columns}


def made_of(text: str, column: str = "z") -> set[str]:
    """What the column may be made of; everything if that is not known."""
    found = column_lineage(text, SCHEMAS).columns.get(column)
    if found is None:
        return EVERYTHING
    return {f"{source.dataset}.{source.column}" for source in found}


def names(text: str) -> tuple[set[str], bool]:
    found = column_lineage(text, SCHEMAS)
    return set(found.columns), found.complete


# Joins that put their keys first


@pytest.mark.parametrize("join", ["LEFT SEMI", "SEMI", "LEFT ANTI", "ANTI"])
def test_a_semi_or_anti_join_puts_its_keys_first(join: str) -> None:
    joined = f"silver.people {join} JOIN silver.orders USING (id)"
    rows = f"(SELECT * FROM {joined}) x(a, b, c, d, e)"
    assert made_of(f"SELECT a AS z FROM {rows}") == {"silver.people.id"}
    assert made_of(f"SELECT b AS z FROM {rows}") == {"silver.people.email"}
    assert made_of(f"SELECT c AS z FROM {rows}") == {"silver.people.city"}


def test_a_semi_join_keeps_what_an_earlier_join_merged() -> None:
    text = (
        "SELECT p.id AS z FROM silver.people p RIGHT JOIN silver.orders o USING (id)"
        " LEFT SEMI JOIN (SELECT city FROM silver.people) c USING (city)"
    )
    assert made_of(text) == {"silver.people.id"}


def test_a_semi_join_with_a_relation_of_unknown_columns_is_followed() -> None:
    text = (
        "SELECT b AS z FROM (SELECT * FROM silver.people LEFT SEMI JOIN"
        " (SELECT id, json_tuple(props, 'a') FROM silver.orders) USING (id)) x(a, b, c, d, e)"
    )
    assert made_of(text) == {"silver.people.email"}


@pytest.mark.parametrize("join", ["JOIN", "LEFT SEMI JOIN", "NATURAL JOIN"])
def test_the_keys_of_a_join_decide_on_the_value_of_a_subquery(join: str) -> None:
    using = "" if "NATURAL" in join else "USING (id)"
    rows = f"(SELECT amount, id FROM silver.orders) o {join} (SELECT id FROM silver.people) {using}"
    found = made_of(f"SELECT (SELECT max(amount) FROM {rows}) AS z FROM silver.people")
    assert found == {"silver.orders.amount", "silver.orders.id", "silver.people.id"}


# Names that PIVOT makes


@pytest.mark.parametrize(
    ("value", "name"),
    [("01", "1"), ("r'a' 'b'", "ab"), ("'a' 'b'", "ab"), (r"'\u0061b'", "ab"), ("r'ab'", "ab")],
)
def test_a_value_of_a_pivot_is_not_hidden_behind_an_alias(value: str, name: str) -> None:
    rows = "(SELECT email, city FROM silver.people)"
    pivot = f"{rows} PIVOT (max(email) FOR city IN ({value}))"
    assert "silver.people.email" in made_of(
        f"SELECT 'safe' AS `{name}`, `{name}` AS z FROM {pivot}"
    )


@pytest.mark.parametrize(
    ("value", "name"), [("01", "1"), ("'ab'", "ab"), ("'a' AS b", "b"), ("'a' 'b' AS c", "c")]
)
def test_the_names_that_a_pivot_makes(value: str, name: str) -> None:
    rows = "(SELECT email, city FROM silver.people)"
    text = f"SELECT * FROM {rows} PIVOT (max(email) FOR city IN ({value}))"
    assert names(text) == ({name}, True)


def test_a_pivot_of_a_name_with_parentheses_is_not_followed() -> None:
    rows = "silver.people p, (SELECT 'safe' AS p) q"
    pivot = f"(SELECT * FROM {rows}) r PIVOT (max((r).email) FOR city IN ('a'))"
    assert names(f"SELECT * FROM {pivot}") == (set(), False)


# Items that later items see


@pytest.mark.parametrize(
    "item",
    ["info.age", "t.info.age", "(info).age", "(t.info).age", "((t).info).age", "info.age.age",
     "info.*", "t.info.*", "inline(info)", "explode(info)", "(posexplode(info))"],
)  # fmt: skip
def test_a_field_without_alias_is_seen_by_later_items(item: str) -> None:
    text = (
        "SELECT l.z FROM (SELECT 'safe' AS age) o,"
        f" LATERAL (SELECT {item}, upper(age) AS z FROM (SELECT info FROM silver.people) t) l"
    )
    assert "silver.people.info" in made_of(text)


@pytest.mark.parametrize("item", ["id", "t.id", "(id)", "cast(id AS int)", "'1' AS k", "*", "t.*"])
def test_other_items_hide_no_outer_column(item: str) -> None:
    text = (
        "SELECT l.z FROM (SELECT email AS age FROM silver.people) o,"
        f" LATERAL (SELECT {item}, upper(age) AS z FROM (SELECT id FROM silver.orders) t) l"
    )
    assert made_of(text) == {"silver.people.email"}


def test_an_item_whose_name_spark_generates_hides_what_is_looked_up_after_it() -> None:
    for item, name in (("'abc'", "abc"), ("upper(email)", "upper(email)"), ("max(id)", "max(id)")):
        text = (
            f"SELECT l.z FROM (SELECT 'safe' AS `{name}`) o,"
            f" LATERAL (SELECT {item}, concat(`{name}`) AS z FROM silver.people) l"
        )
        assert made_of(text) == EVERYTHING


def test_a_generator_is_seen_after_columns_of_outer_queries() -> None:
    """Spark resolves ``e`` to the outer column here, without one to the generator's."""
    for first, second in (("explode(tags) AS e", "e AS z"), ("e AS z", "explode(tags) AS e")):
        inner = f"(SELECT {first}, {second} FROM (SELECT array('safe') AS tags)) l"
        text = f"SELECT l.z FROM (SELECT email AS e FROM silver.people) o, LATERAL {inner}"
        assert "silver.people.email" in made_of(text)
        alone = f"SELECT {first}, {second} FROM silver.people"
        assert made_of(alone) == {"silver.people.tags"}
        assert check_columns(alone, TABLES) == ()
    several = "SELECT upper(b) AS z, posexplode(tags) AS (a, b) FROM silver.people"
    assert made_of(several) == {"silver.people.tags"}


# Names of items without alias


NOT_NAMED_K = (
    "+k", "+t.k", "(+k)", "+ +k", "+s.k", "(+s).k", "cast(+k AS string)", "+cast(k AS string)",
    "cast(s.k AS string)", "try_cast(s.k AS string)", "s.k::string", "string(s.k)", "int(s.k)",
    "date(s.k)", "double(s.k)", "boolean(s.k)", "timestamp(s.k)", "float(s.k)", "(s.k)::string",
    "cast((s).k AS string)", "cast(t.s.k AS string)", "cast(cast(k AS string) AS string)",
    "to_timestamp(k)", "upper(k)", "-k", "s['k']", "(SELECT 'a' AS k)",
)  # fmt: skip
NAMED_K = (
    "k", "t.k", "(k)", "((t.k))", "(t).k", "s.k", "t.s.k", "(s).k", "((t).s).k",
    "cast(k AS string)", "try_cast(t.k AS int)", "k::string", "(k)::string", "int(k)",
    "string(t.k)", "`k`",
)  # fmt: skip
INNER = "(SELECT email, '1' AS k, named_struct('k', '1') AS s FROM silver.people) t"


@pytest.mark.parametrize("item", NOT_NAMED_K)
def test_an_item_that_spark_names_otherwise_hides_no_alias(item: str) -> None:
    rows = f"(SELECT email, {item} FROM {INNER})"
    text = f"SELECT z FROM (SELECT email AS k, k AS z FROM {rows})"
    assert "silver.people.email" in made_of(text)
    assert names(f"SELECT email, {item} FROM {INNER}") == ({"email"}, False)


@pytest.mark.parametrize("item", NAMED_K)
@pytest.mark.parametrize("before", ["", "DISTINCT ", "ALL ", "/*+ BROADCAST(t) */ ", "email, "])
def test_an_item_named_as_its_column(item: str, before: str) -> None:
    text = f"SELECT {before}{item} FROM {INNER}"
    assert "k" in names(text)[0]
    assert names(text)[1]


# Dotted names


def test_parentheses_within_a_dotted_name_are_nothing() -> None:
    others = "(SELECT named_struct('email', 'safe') AS p) q"
    for name in ("(p).email", "((p)).email", "upper((p).email)"):
        text = f"SELECT {name} AS z FROM silver.people p, {others}"
        assert made_of(text) == {"silver.people.email"}
        assert check_columns(text, TABLES) == ()


def test_a_generated_name_of_a_relation_comes_before_a_field() -> None:
    inner = "(SELECT +email, named_struct('(+ email)', 'safe') AS s FROM silver.people) s"
    assert "silver.people.email" in made_of(f"SELECT s.`(+ email)` AS z FROM {inner}")


def test_a_misspelt_name_is_found_after_other_items() -> None:
    text = "SELECT count(*), emial, idd FROM silver.people"
    assert [item.offset for item in check_columns(text, TABLES)] == [17, 24]
