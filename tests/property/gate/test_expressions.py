"""Expressions: a text that is accepted means what SQL says it means, and nothing else gets in."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import duckdb

from lakeguard.gate.grammar.functions import FUNCTIONS, IF_EXAMPLE
from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import parse_rule, rule_text
from lakeguard_sdk.expressions.conditions import Condition, Not
from lakeguard_sdk.expressions.measures import CountIf
from tests.property.gate.test_grammar import reads_or_refuses, refusal, stands_in
from tests.property.measure.every_function import EVERY_CONDITION, EVERY_RULE
from tests.property.measure.expressions import SCHEMA as WIDE
from tests.property.measure.scalar_oracle import truth
from tests.support.examples import draws
from tests.unit.gate.cases import schema
from tests.unit.gate.test_hostile_texts import HOSTILE

NUMBERS = schema(a="integer", b="integer", c="integer")
SOUP = (
    *["a", "b", "c", "1", "2", "-1", "+2", "0", "3"] * 3,
    *["+", "-", "*", "%", "(", ")", "=", "<>", "<", "<=", ">", ">=", "and", "or", "not"] * 2,
    *["between", "in", "is null", "is not null", "is", "null", ",", "in (1, 2)", "not in (0)"],
    *["a + b", "a > 1", "b * c", "between 0 and 2"],
)
ROWS = [dict(zip("abc", row, strict=True)) for row in product([None, -2, 0, 1, 3], repeat=3)]
PIECES = (
    *"()[]{},.;:=<>!%+-*/|&^~?@#$\\\"'`\x00\u202e\u2028\ud800",
    *[" or 1=1", "--", "/*", "*/", "||", "''", "' or ''='", "; drop table x", "union select 1"],
    *["null", "true", "not ", "value", "if(", "abs(", "sleep(9)", "$p0", ":p0", "${a}", "{{a}}"],
    *[
        "0x1F",
        "1e999",
        "9" * 70,
        "\uff08",
        "\u0661",
        "\u00a0",
        "\U0001f4a5",
        "select",
        "(select 1)",
    ],
)


@cache
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET error_on_division_by_zero = false")  # NULL, as in conditions
    return connection


def condition_of(text: str) -> Condition | None:
    """The condition that the gate makes of the text; None where it refuses it."""
    rule = f"sql_row({text})"
    refused = refusal(lambda: compile_text(rule, NUMBERS))
    if refused is not None:
        assert stands_in(refused, rule)
        return None
    measure = compile_text(rule, NUMBERS).measures[0]
    assert isinstance(measure, CountIf)
    assert isinstance(measure.condition, Not)
    return measure.condition.item


def means_what_sql_says(text: str) -> bool:
    """Whether the text was accepted; DuckDB, given the very text, then finds the same."""
    condition = condition_of(text)
    if condition is None:
        return False
    values = ", ".join(
        f"({index}, {', '.join('NULL' if v is None else str(v) for v in row.values())})"
        for index, row in enumerate(ROWS)
    )
    query = f"SELECT ({text}) FROM (VALUES {values}) AS t(i, a, b, c) ORDER BY i"
    found = [row[0] for row in database().execute(query).fetchall()]
    assert found == [truth(condition, row) for row in ROWS], text
    return True


def loose_condition(chance: random.Random, depth: int) -> str:
    """A condition with hardly a bracket in it: what belongs together is for the reader to say."""
    if depth and chance.random() < 0.6:
        one, other = loose_condition(chance, depth - 1), loose_condition(chance, depth - 1)
        forms = [f"{one} and {other}", f"{one} or {other}", f"not {one}", f"({one})"]
        return chance.choice(forms)
    one, two, three = (named(chance, depth + 1) for _ in range(3))
    relation = chance.choice(["=", "<>", "!=", "<", "<=", ">", ">="])
    no = chance.choice(["", "not "])
    tests = [f"{one} {relation} {two}", f"{one} {no}between {two} and {three}"]
    return chance.choice([*tests, *tests, f"{one} {no}in (0, 1, 3)", f"{one} is {no}null"])


def named(chance: random.Random, depth: int) -> str:
    if depth and chance.random() < 0.6:
        one, other = named(chance, depth - 1), named(chance, depth - 1)
        forms = [f"{one} {mark} {other}" for mark in "+-*%"]
        return chance.choice([*forms, f"({one})", f"{one} -1", f"{one}+2"])
    return chance.choice(["a", "b", "c", "1", "2", "-1", "0", "3"])


def accepted(seed: int, count: int) -> int:
    chance = random.Random(seed)
    return sum(means_what_sql_says(loose_condition(chance, 2)) for _ in range(count))


def test_what_is_accepted_means_what_sql_says() -> None:
    drawn = draws(4_000, quick=400)
    assert accepted(1, drawn) > drawn / 5


def test_what_is_accepted_of_any_words_means_what_sql_says() -> None:
    chance = random.Random(20260228)
    for _ in range(draws(40_000, quick=2_000)):
        count = chance.randrange(3, 12)
        means_what_sql_says(" ".join(chance.choice(SOUP) for _ in range(count)))


def texts() -> list[str]:
    examples = [spec.example for spec in FUNCTIONS.values() if spec.predicate]
    rules = [f"sql_row({text})" for text in (*EVERY_CONDITION, *examples)]
    return [*rules, *EVERY_RULE, f"sql_row({IF_EXAMPLE} > 1)", *map(str, HOSTILE.values())]


def mutated(chance: random.Random, text: str) -> str:
    """A text with pieces put in, taken out, doubled or swapped."""
    for _ in range(chance.randrange(1, 4)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + 12)
        middle = chance.choice(["", chance.choice(PIECES), text[at:end] * 2, text[at:end][::-1]])
        text = text[:at] + middle + text[end:]
    return text


def nothing_gets_in(text: str) -> None:
    """GrammarError at a place or a rule; and a rule asks what its canonical text asks."""
    reads_or_refuses(text)
    refused = refusal(lambda: compile_text(text, WIDE))
    if refused is not None:
        assert stands_in(refused, text)
        return
    canonical = compile_text(rule_text(parse_rule(text)), WIDE)
    assert canonical.measures == compile_text(text, WIDE).measures


def test_texts_with_something_wrong_in_them() -> None:
    chance = random.Random(7)
    known = texts()
    for _ in range(draws(15_000, quick=1_500)):
        nothing_gets_in(mutated(chance, chance.choice(known)[:4_500]))
