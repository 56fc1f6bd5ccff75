"""Column lineage of a SELECT, with the functions applied."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.lineage import column_sources
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import Column, TableSchema

PEOPLE, CITIES = DatasetName("silver.people"), DatasetName("silver.cities")


def schema(*names: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=name, type="string") for name in names))


ROWS_OF_A_VALUE = (
    "SELECT posexplode(array(email)) AS (a, b) FROM silver.people",
    "SELECT stack(1, id, email) AS (a, b) FROM silver.people",
    "SELECT json_tuple(email, 'a', 'b') AS (a, b) FROM silver.people",
    "SELECT inline(array(struct(id, email))) AS (a, b) FROM silver.people",
    "SELECT explode(map(id, email)) AS (a, b) FROM silver.people",
    "SELECT inline(array(named_struct('b', email))) FROM silver.people",
    "SELECT json_tuple(email, 'b') FROM silver.people",
)

SCHEMAS = {PEOPLE: schema("id", "email", "city"), CITIES: schema("id", "name")}


def origins(text: str, column: str) -> list[str] | None:
    """``silver.people.email through sha2`` for all that the column is made of."""
    found = column_sources(text, SCHEMAS)[column]
    if found is None:
        return None
    return sorted(
        " through ".join(filter(None, [f"{s.dataset}.{s.column}", " ".join(sorted(s.through))]))
        for s in found
    )


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("SELECT * FROM silver.people", "email", ["silver.people.email"]),
        ("SELECT Email AS Mail FROM silver.people", "mail", ["silver.people.email"]),
        ("SELECT p.email FROM silver.people p", "email", ["silver.people.email"]),
        ("SELECT 1 AS n FROM silver.people", "n", []),
        (
            "SELECT sha2(email, 256) AS h FROM silver.people",
            "h",
            ["silver.people.email through sha2"],
        ),
        (
            "SELECT Mask_Email(email) AS h FROM silver.people",
            "h",
            ["silver.people.email through mask_email"],
        ),
        (
            "SELECT concat(email, md5(email)) AS h FROM silver.people",
            "h",
            ["silver.people.email through concat", "silver.people.email through concat md5"],
        ),
        (
            "WITH x AS (SELECT *, sha2(email, 256) AS h FROM silver.people) SELECT h FROM x",
            "h",
            ["silver.people.email through sha2"],
        ),
        (
            "SELECT x FROM (SELECT email AS x FROM silver.people UNION ALL"
            " SELECT name FROM silver.cities)",
            "x",
            ["silver.cities.name", "silver.people.email"],
        ),
        (
            "SELECT c.name FROM silver.people p JOIN silver.cities c ON c.id = p.city"
            " WHERE p.email IS NOT NULL",
            "name",
            ["silver.cities.name"],
        ),
        (
            "SELECT count(DISTINCT email) AS n FROM silver.people GROUP BY city",
            "n",
            ["silver.people.email through count"],
        ),
        (
            "SELECT row_number() OVER (PARTITION BY email ORDER BY id) AS n FROM silver.people",
            "n",
            [],
        ),
        (
            "SELECT (SELECT max(email) FROM silver.people) AS m FROM silver.cities",
            "m",
            ["silver.people.email through max"],
        ),
        ("SELECT count(*) AS n FROM silver.people", "n", []),
        ("SELECT count(p.*) AS n FROM silver.people p", "n", []),
        (
            "SELECT w FROM silver.people LATERAL VIEW explode(split(email, ' ')) e AS w",
            "w",
            None,
        ),
    ],
)
def test_a_column_is_followed_to_where_it_comes_from(
    text: str, column: str, expected: list[str] | None
) -> None:
    assert origins(text, column) == expected


def test_what_cannot_be_followed_at_all_has_no_columns() -> None:
    assert column_sources("SELECT FROM WHERE", SCHEMAS) == {}
    assert column_sources("SELECT * FROM silver.unknown", SCHEMAS) == {}


@pytest.mark.parametrize(
    "made",
    [
        "to_json(struct(*))",
        "to_json(struct(p.*))",
        "concat_ws(',', *)",
        "hash(*)",
        "count(DISTINCT *)",
        "count(*) + hash(*)",
        "(SELECT max(struct(*)) FROM silver.cities)",
    ],
)
@pytest.mark.parametrize(
    "place", ["SELECT {} AS j FROM {}", "SELECT j FROM (SELECT {} AS j FROM {})"]
)
def test_a_star_inside_a_function_takes_all_columns(made: str, place: str) -> None:
    for origin in ("silver.people p", "(SELECT email FROM silver.people) p"):
        assert origins(place.format(made, origin), "j") is None


@pytest.mark.parametrize("text", ROWS_OF_A_VALUE)
def test_a_function_that_makes_several_columns_is_not_followed(text: str) -> None:
    for whole in (f"SELECT b AS n FROM ({text})", f"WITH x AS ({text}) SELECT b AS n FROM x"):
        assert origins(whole, "n") is None
    assert column_sources(text, SCHEMAS) == {}, "which columns it shows is not known"


def test_several_columns_move_those_after_them() -> None:
    text = (
        "SELECT 1 AS a, 2 AS b, 3 AS c UNION ALL"
        " SELECT stack(1, email, city) AS (a, b), id FROM silver.people"
    )
    assert [origins(text, name) for name in "abc"] == [None, None, None]
