"""What is refused as the same for every row is the same for every row."""

from __future__ import annotations

from random import Random

import pytest

from lakeguard.gate.rules.compile import compile_rule, define_rule
from lakeguard.gate.rules.parse import GrammarError, parse_rule
from lakeguard.gate.typecheck.constant_conditions import settled
from lakeguard_sdk.expressions.conditions import Condition, Not
from lakeguard_sdk.expressions.measures import CountIf
from tests.property.measure.expressions import SCHEMA, Writer, rows
from tests.property.measure.scalar_oracle import TooManyDigits, truth
from tests.support.examples import draws

DRAWN = 3_000
OPS = ("=", "<>", "<", "<=", ">", ">=")
NUMBERS = ("-129", "-1", "0", "0.5", "1", "2", "13", "127", "1e9", "-1e12")
TEXTS = ("''", "'a'", "'b'", "'ß'")


def stored(text: str) -> Condition | None:
    """The condition as one that was stored before would be asked; None where there is none."""
    try:
        rule = define_rule(parse_rule(f"sql_row({text})"), rule_id=None, severity=None)
        measure = compile_rule(rule, SCHEMA).measures[0]
    except GrammarError:
        return None
    assert isinstance(measure, CountIf)
    assert isinstance(measure.condition, Not)
    return measure.condition.item


def chosen(writer: Writer, chance: Random) -> str:
    """A value that is replaced or left out under a condition about itself, compared or tested."""
    numbers = ("-1", "0", "1", "2", "3")
    value, other = (chance.choice(("b", "i", "small", "length(s)", writer.exact(1))) for _ in "12")
    ends = (*numbers, value, other)
    test = f"{value} {chance.choice(OPS)} {chance.choice(ends)}"
    made = chance.choice(
        (
            f"if({test}, {value}, {chance.choice(ends)})",
            f"if({test}, {chance.choice(ends)}, {value})",
            f"if({value} is null, {chance.choice(ends)}, {value})",
            f"nullif({value}, {chance.choice(ends)})",
            f"coalesce({value}, {chance.choice(ends)})",
            f"coalesce(nullif({value}, {chance.choice(numbers)}), {chance.choice(ends)})",
            f"{chance.choice(('2', '-3'))} * {value} + {chance.choice(numbers)}",
            f"({value} % {chance.choice(('2', '3', '0.05', value))})",
            f"({value}) / {chance.choice(('2', '-0.5', value))}",
            f"length(concat({writer.text(1)}, {writer.text(1)}))",
        )
    )
    return chance.choice(
        (
            f"{made} is null",
            f"{made} in (-1, 0, 1, 2)",
            f"{made} {chance.choice(OPS)} {chance.choice(ends)}",
            f"{made} {chance.choice(OPS)} {chance.choice(numbers)} and {test}",
        )
    )


def drawn(writer: Writer, chance: Random) -> str:
    """Any condition, a chosen value, one value beside a sum with it, or between bounds that may
    leave nothing or everything."""
    if chance.random() < 0.2:
        return writer.condition(1)
    if chance.random() < 0.5:
        return chosen(writer, chance)
    if chance.random() < 0.2:
        value, other = writer.exact(1), writer.exact(1)
        sums = (f"({value}) {sign} {chance.choice((*NUMBERS, other))}" for sign in "+-")
        return f"{value} {chance.choice(OPS)} {chance.choice(list(sums))}"
    value = chance.choice([writer.exact, writer.double, writer.text])(2)
    bounds = TEXTS if value[0] in "stcluip" else NUMBERS
    first, second = (f"{value} {chance.choice(OPS)} {chance.choice(bounds)}" for _ in range(2))
    return chance.choice([first, f"{first} and {second}", f"{first} or {second}"])


@pytest.mark.parametrize("seed", range(2))
def test_settled_conditions_never_differ(seed: int) -> None:
    chance = Random(seed)
    writer, table = Writer(chance), rows(chance, 80)
    settled_ones = 0
    count = draws(DRAWN, quick=1_000)
    for _ in range(count):
        condition = stored(text := drawn(writer, chance))
        wanted = None if condition is None else settled(condition)
        if condition is None or wanted is None:
            continue
        settled_ones += 1
        for row in table:
            try:
                assert truth(condition, row) in (wanted, None), (text, row)
            except TooManyDigits:
                continue
    assert settled_ones > count / 20
