"""Where the columns of a SELECT come from, and what their values passed on the way."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql_lineage import column_sources
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.schema import Column, TableSchema

PEOPLE, CITIES = DatasetName("silver.people"), DatasetName("silver.cities")


def schema(*names: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=name, type="string") for name in names))


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
