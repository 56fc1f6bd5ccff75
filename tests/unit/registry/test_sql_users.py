"""A bare ``user``: a column where the parents have one, else a function of the session."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.sql_builds import (
    check_columns,
    check_sql,
    check_transform,
    rewrite_tables,
)
from lakeguard.registry.sql.sql_facts import KnownTable
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadSql

PEOPLE = DatasetName("silver.people")
OF_THE_SESSION = (
    "SELECT user AS x FROM silver.people",
    "SELECT `user` AS x FROM silver.people",
    "SELECT USER FROM silver.people",
    "SELECT user AS user FROM silver.people",
    "SELECT id FROM silver.people WHERE upper(user) = 'ROOT'",
    "SELECT user FROM (SELECT json_tuple(email, 'a') FROM silver.people)",
    "SELECT max(user) OVER () AS x FROM silver.people",
    "SELECT x FROM (SELECT user AS x, explode(array(1)) FROM silver.people) a, (SELECT 1 AS user)",
)
AMBIGUOUS = (
    "SELECT user FROM (SELECT id AS user FROM silver.people)",
    "WITH t(user) AS (SELECT id FROM silver.people) SELECT user FROM t",
    "SELECT user FROM silver.people LATERAL VIEW explode(array(1)) e AS user",
)
"""Columns here, as a person sees: but not where the columns of a relation are not known."""
NO_FUNCTION = (
    "SELECT id AS user FROM silver.people",
    "SELECT id user FROM silver.people",
    "SELECT user.id FROM silver.people user",
    "SELECT transform(array(1), user -> user + 1) AS x FROM silver.people",
    "SELECT struct(id AS user).user AS x, 'user' AS y FROM silver.people",
)


@pytest.mark.parametrize("text", OF_THE_SESSION + AMBIGUOUS)
def test_the_user_of_the_session_is_refused(text: str) -> None:
    (problem,) = check_sql(text, {PEOPLE}, ["id", "email"])
    assert problem.problem.startswith("user depends on the session")
    assert text[problem.offset : problem.offset + problem.length].strip("`").lower() == "user"
    with pytest.raises(BadSql, match="depends on the session"):
        rewrite_tables(text, {PEOPLE: "v"}, columns=["id", "email"])


@pytest.mark.parametrize("text", OF_THE_SESSION)
def test_a_declared_column_is_no_user_of_the_session(text: str) -> None:
    assert check_sql(text, {PEOPLE}, ["id", "email", "User"]) == ()
    assert check_sql(text, {PEOPLE}, None) == (), "known when the run opens"


@pytest.mark.parametrize("text", NO_FUNCTION)
def test_a_name_that_the_select_gives_is_no_function(text: str) -> None:
    assert check_sql(text, {PEOPLE}, ["id"]) == ()
    assert check_columns(text, {PEOPLE: KnownTable(("id",))}) == ()


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_a_column_of_the_select_is_named_with_its_table(text: str) -> None:
    (problem,) = check_sql(text, {PEOPLE}, ["id"])
    assert problem.hint == "; for a column, write its table before it"


def test_a_user_of_another_relation_is_no_column_here() -> None:
    text = "SELECT user FROM (SELECT upper(user) AS user FROM silver.people)"
    (problem,) = check_columns(text, {PEOPLE: KnownTable(("id",))})
    assert problem.offset == text.index("user)")


def test_a_transform_names_the_table_of_the_column() -> None:
    (problem,) = check_transform("SELECT user AS x FROM batch")
    assert problem.hint == "; for a column, write its table before it"
    assert check_transform("SELECT batch.user AS x FROM batch") == ()
