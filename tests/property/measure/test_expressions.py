"""DuckDB says of every condition what a plain Python oracle says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from lakeguard.gate.grammar.functions import EVERY_NAME
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rule_types.json import JsonRule
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard.gate.rules.parse import parse_rule
from tests.property.measure.engines import (
    by_duckdb,
    by_python,
    drawn,
    drawn_totals,
    every,
    total_by_python,
    totals_by_duckdb,
    write,
)
from tests.property.measure.every_function import EVERY_CONDITION, EVERY_RULE
from tests.property.measure.expressions import rows
from tests.property.measure.totals import TOO_WIDE, agree


def disagreements(seed: int, count: int, folder: Path) -> list[Any]:
    """Conditions of which DuckDB counts other rows, or raises where Python has a result.

    Where Python finds too many digits an engine may still have one: it need not look at a value
    that cannot matter.
    """
    chance = Random(seed)
    table = rows(chance, 150)
    file = folder / f"{seed}.parquet"
    write(file, table)
    conditions = every() | drawn(chance, count, depth=2)
    expected = {text: by_python(found, table) for text, found in conditions.items()}
    plain = [text for text in conditions if expected[text] is not None]
    found = dict(zip(plain, by_duckdb([conditions[t] for t in plain], file), strict=True))
    return [(text, found[text], expected[text]) for text in plain if found[text] != expected[text]]


def test_every_function_and_every_row_rule_is_asked() -> None:
    written = " ".join(EVERY_CONDITION)
    assert {name for name in EVERY_NAME if f"{name}(" in written} == set(EVERY_NAME)
    assert {parse_rule(text).rule_type for text in EVERY_RULE} == {
        rule_type.name for rule_type in RULE_TYPES if _counts_by_a_condition(rule_type)
    }


def _counts_by_a_condition(rule_type: RuleType) -> bool:
    """Whether an engine judges each row by itself, whatever else is in the table."""
    others = rule_type.scopes or rule_type.refers or rule_type.takes_group_condition
    return rule_type.limit_target == "rows" and not others and not isinstance(rule_type, JsonRule)


@pytest.mark.parametrize("seed", range(4))
def test_conditions_equal_the_oracle(seed: int, tmp_path: Path) -> None:
    assert disagreements(seed, 120, tmp_path) == []


def wrong_totals(seed: int, count: int, folder: Path) -> list[Any]:
    """Aggregates that DuckDB does not find as Python does."""
    chance = Random(seed)
    table = rows(chance, 60)
    file = folder / f"{seed}.parquet"
    write(file, table)
    asked = drawn_totals(chance, count)
    expected = {text: total_by_python(measure, table) for text, measure in asked.items()}
    plain = [text for text in asked if expected[text][0] != TOO_WIDE]
    found = totals_by_duckdb([asked[text] for text in plain], file)
    return [
        (text, value, expected[text][0])
        for text, value in zip(plain, found, strict=True)
        if not agree(value, *expected[text])
    ]


@pytest.mark.parametrize("seed", range(3))
def test_aggregates_of_values_equal_the_oracle(seed: int, tmp_path: Path) -> None:
    assert wrong_totals(seed, 80, tmp_path) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1_000, 1_003))
def test_many_conditions_equal_the_oracle(seed: int, tmp_path: Path) -> None:
    assert disagreements(seed, 400, tmp_path) == []
