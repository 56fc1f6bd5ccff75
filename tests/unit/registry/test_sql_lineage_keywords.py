"""Keywords as columns, over a relation whose columns have unknown names; and names that look like
numbers."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.lineage import Lineage, column_lineage
from lakeguard.registry.sql.sql_keywords import KEYWORDS
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import Column, TableSchema

PEOPLE = DatasetName("silver.people")
SCHEMAS = {
    PEOPLE: TableSchema(columns=tuple(Column(name=name, type="string") for name in ("id", "pin")))
}
UNKNOWN_NAMES = "(SELECT json_tuple(pin, 'a'), id AS k FROM silver.people)"

LOST_BY_THE_PARSER = (
    "filter(sequence(0, 9999), n -> struct({word} = n).col1)[0]",
    "struct(({word}) = k)",
    "struct(-{word} = k)",
    "struct({word} k)",
    "struct({word} * k)",
    "struct({word} - k)",
    "percentile(k, 0.5, {word})",
    "trunc(date '2020-01-01', {word})",
    "date_trunc({word}, timestamp '2020-01-01')",
    "first(k, {word})",
    "CASE WHEN k = 1 THEN struct({word} = k) END",
    "CASE struct({word} = k) WHEN k THEN 1 END",
    "sum(k) OVER (ORDER BY struct({word} = k))",
)
FOLLOWED = (
    "SELECT k AS x FROM {rows} WHERE k IS NOT NULL AND NOT k > 1 OR k NOT IN (1, 2)",
    "SELECT DISTINCT k AS x FROM {rows} LIMIT 5",
    "SELECT CASE WHEN k > 1 THEN k ELSE -1 END AS x FROM {rows}",
    "SELECT CASE k WHEN 1 THEN NULL ELSE k END AS x FROM {rows}",
    "SELECT -k AS x FROM {rows} WHERE k BETWEEN -1 AND 2",
    "SELECT cast(k AS int) AS x FROM {rows} WHERE k IS NOT DISTINCT FROM 1 AND k IS NOT TRUE",
    "SELECT k + INTERVAL 1 DAY AS x FROM {rows} WHERE k LIKE 'a' ESCAPE '/'",
    "SELECT k AS x FROM {rows} r LEFT OUTER JOIN silver.people p ON r.k = p.id",
    "SELECT k AS x FROM {rows} LATERAL VIEW OUTER explode(array(1)) e AS v",
    "SELECT k AS x FROM {rows}, LATERAL explode(array(1)) AS e(v)",
    "SELECT k AS x FROM {rows} UNION ALL SELECT id FROM silver.people",
    "WITH t AS (SELECT * FROM {rows}) SELECT k AS x FROM t WHERE EXISTS (SELECT 1)",
    "SELECT count(DISTINCT k) AS x FROM {rows}",
    "SELECT count(DISTINCT k) FILTER (WHERE k > 1) AS x FROM {rows} HAVING count(*) > 1",
    "SELECT k DIV 2 AS x FROM {rows} WHERE k IN (SELECT id FROM silver.people)",
)


@pytest.mark.parametrize("made", LOST_BY_THE_PARSER)
@pytest.mark.parametrize("word", sorted(KEYWORDS - {"null", "true", "false"}))
def test_a_keyword_may_be_a_column(word: str, made: str) -> None:
    text = f"SELECT k AS id, {made.format(word=word)} AS x FROM {UNKNOWN_NAMES}"
    found = column_lineage(text, SCHEMAS)
    expected = (word, made) == ("not", "struct({word} k)")  # the negation of k
    assert (found.columns.get("x") is not None) == expected, found


@pytest.mark.parametrize("text", FOLLOWED)
def test_a_keyword_in_its_place_is_no_column(text: str) -> None:
    found = column_lineage(text.format(rows=UNKNOWN_NAMES), SCHEMAS)
    assert found != Lineage(), "followed"
    value = found.columns["x"]
    assert value is not None
    assert {source.column for source in value} == {"id"}


NAMES_LIKE_NUMBERS = ["1e", "0e", "12E", "1ed", "08Ed", "1ef", "5el", "2e7s", "6e3y", "0x1", "0X1f",
                      "0b1", "1bde", "3lx", "1_0", "7d7", "1e5bdx"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES_LIKE_NUMBERS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, {name} AS x FROM (SELECT id, pin AS `{name}` FROM silver.people)",
        "SELECT id, t.{name} AS x FROM (SELECT id, pin AS `{name}` FROM silver.people) t",
        "WITH t(id, `{name}`) AS (SELECT * FROM silver.people) SELECT id, -{name} AS x FROM t",
        "SELECT id, concat({name},'') AS x FROM (SELECT id, pin AS `{name}` FROM silver.people)",
    ],
)
def test_a_name_like_a_number_is_no_constant(text: str, name: str) -> None:
    value = column_lineage(text.format(name=name), SCHEMAS).columns.get("x")
    assert value is None or {source.column for source in value} == {"pin"}


@pytest.mark.parametrize(
    "number",
    [
        "1",
        "1.5",
        ".5",
        "5.",
        "1e5",
        "1E-5",
        "1.e3",
        "2D",
        "2.5f",
        "10BD",
        "3L",
        "4s",
        "5Y",
        "1e2d",
        "X'1f'",
    ],
)
def test_a_number_is_a_constant(number: str) -> None:
    found = column_lineage(
        f"SELECT id, {number} AS x, -{number}+id AS y FROM silver.people", SCHEMAS
    )
    y = found.columns["y"]
    assert found.columns["x"] == frozenset()
    assert y is not None
    assert {source.column for source in y} == {"id"}
