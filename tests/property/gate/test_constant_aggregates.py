"""Aggregates that are refused as constant are constant, asked of DuckDB."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import duckdb
import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.examples import draws

DRAWN = 1_500
TABLES = 12
TYPES = {"n": "integer", "m": "integer", "w": "decimal(9,2)", "s": "string"}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))
TERMS = (
    *("count(*)", "count(n)", "count(m)", "count(s)", "count(distinct n)", "count(distinct s)"),
    *("sum(n)", "sum(w)", "min(n)", "max(n)", "min(w)", "max(w)", "sum(length(s))", "max(abs(m))"),
)
GROUP_TERMS = tuple(term for term in TERMS if "distinct" not in term)
NUMBERS = ("0", "1", "2", "0.5", "100")
CONSTANT = ("this is constant, whatever", "the same for every group", "this always holds")
OPS = ("<", "<=", ">", ">=", "=", "<>")


class Formula(NamedTuple):
    """An aggregate as a rule says it, and in the SQL of DuckDB."""

    said: str
    sql: str


def formula(chance: Random, terms: tuple[str, ...], depth: int = 2) -> Formula:
    if depth == 0 or chance.random() < 0.3:
        term = chance.choice((*terms, *terms, *NUMBERS))
        return Formula(term, term)
    left, right = (formula(chance, terms, depth - 1) for _ in range(2))
    op = chance.choice(("+", "-", "-", "-", "*", "/", "%"))
    divisor = f"nullif({right.sql}, 0)" if op in "/%" else f"({right.sql})"
    return Formula(f"({left.said}) {op} ({right.said})", f"({left.sql}) {op} {divisor}")


def tables(chance: Random, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """From no row to some, with few values and NULLs."""
    names = []
    for index in range(TABLES):
        name = f"t{index}"
        connection.execute(f"CREATE TABLE {name} (n BIGINT, m BIGINT, w DECIMAL(9,2), s VARCHAR)")
        for _ in range(chance.choice((0, 1, 2, 5, 9))):
            row = [
                chance.choice((None, -2147483648, -3, 0, 1, 7, 2147483647)),
                chance.choice((None, 1, 2)),
                chance.choice((None, "-9999999.99", "0.00", "12.50", "9999999.99")),
                chance.choice((None, "", "a", "ab", " b ")),
            ]
            connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", row)
        names.append(name)
    return names


def is_refused(text: str) -> bool:
    try:
        compile_text(text, SCHEMA)
    except GrammarError as error:
        return any(said in error.message for said in CONSTANT)
    return False


def answers(
    connection: duckdb.DuckDBPyConnection, names: list[str], condition: str, groups: str
) -> set[bool]:
    """The values of the condition; a division by zero or no value is none."""
    found = set()
    for name in names:
        query = f"SELECT {condition} FROM {name} {groups}"
        try:
            found |= {value for (value,) in connection.execute(query).fetchall()}
        except duckdb.OutOfRangeException:  # our arithmetic is exact
            continue
    return found - {None}


def drawn(chance: Random) -> tuple[str, str, str]:
    """A rule, its condition in SQL, and its groups."""
    if chance.random() < 0.5:
        of, bound = formula(chance, TERMS), chance.choice((*NUMBERS, "-1"))
        side, op = chance.choice((("min", ">="), ("max", "<=")))
        return f"sql_agg({of.said}, {side}={bound})", f"{of.sql} {op} {bound}", ""
    left, right = (formula(chance, GROUP_TERMS, 1) for _ in range(2))
    op = chance.choice(OPS)
    said = f"sql_query({left.said} {op} {right.said}) by m"
    return said, f"{left.sql} {op} {right.sql}", "GROUP BY m"


@pytest.mark.parametrize("seed", range(2))
def test_refused_aggregates_never_differ(seed: int) -> None:
    chance = Random(seed)
    refused = 0
    count = draws(DRAWN, quick=600)
    with duckdb.connect(":memory:") as connection:
        names = tables(chance, connection)
        for _ in range(count):
            text, condition, groups = drawn(chance)
            if is_refused(text):
                refused += 1
                assert len(answers(connection, names, condition, groups)) <= 1, text
    assert refused > count / 20


AGGREGATES = {"mean": "avg", "min": "min", "max": "max", "sum": "sum", "deviation": "stddev_samp"}
BOUNDS = (
    "2147483647",
    "-2147483648",
    "9999999.99",
    "-9999999.99",
    "3000000000",
    "15000000",
    "1e30",
    "0",
)


def within(value: float, bound: str, side: str) -> bool:
    """As evidence and bounds are compared: at 12 digits."""
    one, other = float(f"{value:.12g}"), float(f"{float(bound):.12g}")
    return one >= other if side == "min" else one <= other


@pytest.mark.parametrize("name", [*AGGREGATES, "distinct"])
def test_bounds_that_are_refused_hold_for_every_table(name: str) -> None:
    chance = Random(name)
    refused = 0
    with duckdb.connect(":memory:") as connection:
        names = tables(chance, connection)
        for column in ("n", "w"):
            asked = f"{AGGREGATES.get(name)}({column})"
            asked = f"count(DISTINCT {column})" if name == "distinct" else asked
            for bound, side in ((bound, side) for bound in BOUNDS for side in ("min", "max")):
                if not is_refused(f"{name}({column}, {side}={bound})"):
                    continue
                refused += 1
                for table in names:
                    row = connection.execute(f"SELECT CAST({asked} AS DOUBLE) FROM {table}")
                    ((value,),) = row.fetchall()
                    assert value is None or within(value, bound, side), (column, side, bound)
    assert refused
