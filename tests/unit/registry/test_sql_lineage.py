"""Column lineage of a SELECT, with the functions applied."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.lineage import Lineage, column_lineage
from lakeguard.registry.sql.sql_words import folds_as_in_spark
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.types.schema import Column, TableSchema

PEOPLE, CITIES = DatasetName("silver.people"), DatasetName("silver.cities")


def schema(*names: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=name, type="string") for name in names))


SEVERAL_COLUMNS = (
    "SELECT posexplode(array(email)) AS (a, b) FROM silver.people",
    "SELECT stack(1, id, email) AS (a, b) FROM silver.people",
    "SELECT json_tuple(email, 'a', 'b') AS (a, b) FROM silver.people",
    "SELECT inline(array(struct(id, email))) AS (a, b) FROM silver.people",
    "SELECT explode(map(id, email)) AS (a, b) FROM silver.people",
)
UNNAMED_COLUMNS = (
    "SELECT inline(array(named_struct('b', email))) FROM silver.people",
    "SELECT json_tuple(email, 'b') FROM silver.people",
    "SELECT explode(array(email)) FROM silver.people",
    "SELECT s.* FROM (SELECT named_struct('b', email) AS s FROM silver.people)",
)
LOST_WITH_ODD_NAMES = (
    "filter(sequence(0, 9999), n -> struct(`#pin` = n).col1)[0]",
    "struct((`#pin`) = id)",
    "trunc(date '2020-01-01', `#pin`)",
    "date_trunc(`#pin`, timestamp '2020-01-01')",
    "percentile(id, 0.5, `#pin`)",
    "first(id, `#pin`)",
)
LOST_BY_THE_PARSER = (
    "date_trunc(email, timestamp '2020-01-01')",
    "trunc(date '2020-01-01', email)",
    "struct(email = id)",
    "first(id, email)",
)

SCHEMAS = {PEOPLE: schema("id", "email", "city"), CITIES: schema("id", "name")}


def origins(text: str, column: str) -> list[str] | None:
    """``silver.people.email through sha2`` for all that the column is made of."""
    found = column_lineage(text, SCHEMAS).columns.get(column)
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
        (
            "SELECT count(c.*) AS n FROM silver.cities c",
            "n",
            ["silver.cities.id through count", "silver.cities.name through count"],
        ),
        (
            "SELECT w FROM silver.people LATERAL VIEW explode(split(email, ' ')) e AS w",
            "w",
            ["silver.people.email through explode split"],
        ),
        (
            "SELECT v AS a FROM silver.people UNPIVOT (v FOR n IN (email, city))",
            "a",
            ["silver.people.city", "silver.people.email"],
        ),
        (
            "SELECT bb FROM silver.people PIVOT (max(email) FOR city IN ('a', 'b' AS bb))",
            "bb",
            ["silver.people.city", "silver.people.email through max"],
        ),
        (
            "SELECT transform(array(id), city -> concat(city, email)) AS t FROM silver.people",
            "t",
            [
                "silver.people.email through concat transform",
                "silver.people.id through array transform",
            ],
        ),
        (
            "SELECT id FROM silver.people p FULL JOIN silver.cities c USING (id)",
            "id",
            ["silver.cities.id", "silver.people.id"],
        ),
        (
            "SELECT c.id FROM silver.people p FULL JOIN silver.cities c USING (id)",
            "id",
            ["silver.cities.id"],
        ),
        (
            "SELECT email AS a, upper(a) AS b FROM silver.people",
            "b",
            ["silver.people.email through upper"],
        ),
        (
            "WITH p AS (SELECT id AS email FROM silver.people) SELECT email FROM p",
            "email",
            ["silver.people.id"],
        ),
        (
            "SELECT * FROM VALUES ('a') AS v(email) EXCEPT SELECT email FROM silver.people",
            "email",
            [],
        ),
        (
            "WITH RECURSIVE t(n) AS (SELECT id FROM silver.cities UNION ALL"
            " SELECT concat(n, email) FROM t JOIN silver.people ON true) SELECT n FROM t",
            "n",
            [
                "silver.cities.id",
                "silver.cities.id through concat",
                "silver.people.email through concat",
            ],
        ),
    ],
)
def test_a_column_is_followed_to_where_it_comes_from(
    text: str, column: str, expected: list[str] | None
) -> None:
    assert origins(text, column) == expected


def test_fields_of_a_struct_are_made_of_its_column() -> None:
    assert origins("SELECT email.host AS x FROM silver.people", "x") == ["silver.people.email"]
    assert origins("SELECT email.a.b FROM silver.people", "b") == ["silver.people.email"]
    found = column_lineage("SELECT email.* FROM silver.people", SCHEMAS)
    assert (found.columns, found.complete) == ({}, False)


def test_what_cannot_be_followed_at_all_has_no_columns() -> None:
    assert column_lineage("SELECT FROM WHERE", SCHEMAS) == Lineage()
    assert column_lineage("SELECT * FROM silver.unknown", SCHEMAS) == Lineage()


@pytest.mark.parametrize(
    "made",
    [
        "to_json(struct(*))",
        "to_json(struct(p.*))",
        "concat_ws(',', *)",
        "hash(*)",
        "count(DISTINCT *)",
        "count(*) + hash(*)",
        "(SELECT max(struct(p.email, *)) FROM silver.cities)",
    ],
)
@pytest.mark.parametrize(
    "place", ["SELECT {} AS j FROM {}", "SELECT j FROM (SELECT {} AS j FROM {})"]
)
def test_a_star_inside_a_function_takes_all_columns(made: str, place: str) -> None:
    for origin in ("silver.people p", "(SELECT email FROM silver.people) p"):
        found = column_lineage(place.format(made, origin), SCHEMAS).columns["j"]
        assert found is not None
        assert "email" in {source.column for source in found}


@pytest.mark.parametrize("text", SEVERAL_COLUMNS)
def test_each_of_several_columns_is_made_of_all_arguments(text: str) -> None:
    for whole in (f"SELECT b AS n FROM ({text})", f"WITH x AS ({text}) SELECT b AS n FROM x"):
        found = column_lineage(whole, SCHEMAS).columns["n"]
        assert found is not None
        assert "email" in {source.column for source in found}


@pytest.mark.parametrize("text", UNNAMED_COLUMNS)
def test_columns_without_a_known_name_are_unknown(text: str) -> None:
    for whole in (f"SELECT b AS n FROM ({text})", f"WITH x AS ({text}) SELECT b AS n FROM x"):
        assert origins(whole, "n") is None
    found = column_lineage(text, SCHEMAS)
    assert (found.columns, found.complete) == ({}, False)


FOLDED_OTHERWISE_BY_SPARK = (
    "SELECT transform(array(1), `\u017femail` -> email)[0] AS x FROM silver.people",
    "SELECT transform(array(1), \u017femail -> email)[0] AS x FROM silver.people",
    "WITH `stra\u00dfe` AS (SELECT email AS x FROM silver.people),"
    " `strasse` AS (SELECT city AS x FROM silver.people) SELECT x FROM `stra\u00dfe`",
    "WITH ai AS (SELECT city AS x FROM silver.people),"
    " `a\u0131` AS (SELECT email AS x FROM silver.people) SELECT x FROM ai",
    "SELECT x FROM (SELECT email AS `\u017fx`, `\u017fx` AS x"
    " FROM (SELECT city AS sx, email FROM silver.people))",
    "SELECT `\u017f` AS x FROM silver.people PIVOT (max(email) FOR city IN ('s', '\u017f'))",
)


@pytest.mark.parametrize("text", FOLDED_OTHERWISE_BY_SPARK)
def test_names_that_spark_folds_otherwise_are_not_followed(text: str) -> None:
    assert column_lineage(text, SCHEMAS) == Lineage()


def test_a_table_with_a_column_that_spark_folds_otherwise_is_not_followed() -> None:
    odd = {PEOPLE: schema("id", "\u017fsn")}
    assert column_lineage("SELECT id FROM silver.people", odd) == Lineage()


@pytest.mark.parametrize(
    "letter", "\u017f\u00df\u1e9e\u0131\u0130\u212a\u03c3\u03c2\u03a3\u00b5\ua7c0"
)
def test_letters_that_fold_in_several_ways(letter: str) -> None:
    assert not folds_as_in_spark(f"a{letter}")


@pytest.mark.parametrize(
    "name", ["email", "\u00e9t\u00e9", "\u00dcber", "\u00e5r", "\u0433\u043e\u0434", "\u5e74"]
)
def test_a_name_in_most_languages_is_followed(name: str) -> None:
    assert folds_as_in_spark(name)
    assert origins(f"SELECT email AS `{name}` FROM silver.people", name.casefold()) == [
        "silver.people.email"
    ]
    text = f"SELECT id AS x FROM silver.people WHERE city = 'Gie\u00dfen' AND '{name}' <> ''"
    assert origins(text, "x") == ["silver.people.id"]


@pytest.mark.parametrize(
    "body",
    [
        "(SELECT email, city, 1 FROM silver.people UNION ALL SELECT b, a, n + 1 FROM r)",
        "((SELECT email, city, 1 FROM silver.people UNION ALL SELECT b, a, n + 1 FROM R))",
        "SELECT * FROM (SELECT email, city, 1 FROM silver.people UNION ALL SELECT b, a, n FROM r)",
        "(SELECT email, city, 1 FROM silver.people UNION ALL SELECT b, a, n FROM r) LIMIT 5",
    ],
)
def test_a_recursive_query_in_parentheses_is_not_followed(body: str) -> None:
    """The outer ``r`` is another one."""
    text = (
        "WITH r(a, b, n) AS (SELECT city, city, 1 FROM silver.people) SELECT b AS x FROM"
        f" (WITH RECURSIVE r(a, b, n) AS ({body}) SELECT b FROM r)"
    )
    assert column_lineage(text, SCHEMAS) == Lineage()


def test_a_query_under_recursive_that_is_not_recursive_is_followed() -> None:
    text = "WITH RECURSIVE r AS ((SELECT email AS x FROM silver.people)) SELECT x FROM r"
    assert origins(text, "x") == ["silver.people.email"]


@pytest.mark.parametrize("made", LOST_BY_THE_PARSER)
def test_a_column_that_the_parser_loses_makes_everything_unknown(made: str) -> None:
    assert column_lineage(f"SELECT {made} AS a, id AS b FROM silver.people", SCHEMAS) == Lineage()


@pytest.mark.parametrize("made", LOST_WITH_ODD_NAMES)
@pytest.mark.parametrize("name", ["#pin", " pin", "-", "`", "select"])
def test_a_column_with_any_name_that_the_parser_loses(made: str, name: str) -> None:
    quoted = name.replace("`", "``")
    text = f"SELECT {made.replace('#pin', quoted)} AS a FROM silver.people"
    assert column_lineage(text, {PEOPLE: schema("id", name)}) == Lineage()
    inner = "(SELECT id, json_tuple(email, 'a') FROM silver.people)"
    assert origins(text.replace("silver.people", inner), "a") is None


@pytest.mark.parametrize("compared", ["1 = id", "(SELECT 1) = id", "upper(id) = 'a'"])
def test_a_comparison_in_a_struct_is_no_field_name(compared: str) -> None:
    followed = origins(f"SELECT struct({compared}) AS a FROM silver.people", "a")
    assert followed in (None, ["silver.people.id through struct"]), "not less than the column"
    assert origins(f"SELECT struct(({compared}) AS b) AS a FROM silver.people", "a") == [
        "silver.people.id through struct" + (" upper" if "upper" in compared else "")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT emial AS a FROM silver.people",
        "SELECT upper(emial) AS a FROM silver.people",
        "SELECT c.email AS a FROM silver.people p JOIN silver.cities c ON c.id = p.id",
        "SELECT a FROM (SELECT other AS a FROM silver.people)",
    ],
)
def test_a_name_that_is_no_column_of_a_parent_is_unknown(text: str) -> None:
    assert origins(text, "a") is None


def test_several_columns_move_those_after_them() -> None:
    text = (
        "SELECT 1 AS a, 2 AS b, 3 AS c UNION ALL"
        " SELECT stack(1, email, city) AS (a, b), id FROM silver.people"
    )
    assert origins(text, "c") == ["silver.people.id"]
    assert origins(text, "b") == origins(text, "a") is not None


@pytest.mark.parametrize("word", ["RIGHT", "LEFT", "FULL", "SEMI", "ANTI", "NATURAL", "CROSS"])
def test_a_word_that_spark_takes_for_an_alias_is_not_followed(word: str) -> None:
    """To Spark, ``UNPIVOT (…) RIGHT JOIN`` is an inner join with a relation named RIGHT."""
    rows = "silver.people UNPIVOT (v FOR n IN (email, city))"
    joined = f"{word} JOIN silver.cities c" + (" USING (id)" if word[0] not in "NC" else "")
    assert column_lineage(f"SELECT id FROM {rows} {joined}", SCHEMAS) == Lineage()
    assert column_lineage(f"SELECT id FROM ({rows} {joined})", SCHEMAS) == Lineage()


def test_a_query_that_grows_with_every_step_is_not_followed() -> None:
    steps = [f"t{at} AS (SELECT *, * FROM t{at - 1})" for at in range(1, 40)]
    text = f"WITH t0 AS (SELECT * FROM silver.people), {', '.join(steps)} SELECT * FROM t39"
    assert column_lineage(text, SCHEMAS) == Lineage()
    steps = [
        f"t{at} AS (SELECT concat(f{at}(e), g{at}(e)) AS e FROM t{at - 1})" for at in range(1, 25)
    ]
    text = (
        f"WITH t0 AS (SELECT email AS e FROM silver.people), {', '.join(steps)} SELECT e FROM t24"
    )
    found = column_lineage(text, SCHEMAS).columns["e"]
    assert found is not None
    assert len(found) <= 64
    assert {source.column for source in found} == {"email"}
