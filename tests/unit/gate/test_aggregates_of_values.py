"""``sql_agg``: aggregates of values with arithmetic between them, reckoned exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lakeguard.gate.rules.compile import compile_text, default_rule_id
from lakeguard.gate.rules.parse import parse_rule, rule_text
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.conditions import Calculation
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    CountIf,
    DistinctCount,
    RowCount,
)
from tests.unit.gate.cases import SCHEMA, judged, refusal, row

NAN = float("nan")
AMOUNTS = [row(amount=Decimal(text), count=n, key=key) for text, n, key in
           [("1.10", 2, "a"), ("2.20", 3, "a"), ("3.30", None, "b")]]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("SUM( amount*2 )/count( * )", "sum(amount * 2) / count(*)"),
        ("count(DISTINCT key)", "count(distinct key)"),
        ("(sum(amount) - min(amount)) * 2", "(sum(amount) - min(amount)) * 2"),
        ("sum(amount) - (min(amount) * 2)", "sum(amount) - min(amount) * 2"),
        ("1 - avg(delay)", "1 - avg(delay)"),
        ("sum(if(active = true, 1, 0))", "sum(if(active = true, 1, 0))"),
    ],
)
def test_one_spelling(written: str, canonical: str) -> None:
    rule = parse_rule(f"sql_agg({written}, min=5)")
    assert rule_text(rule) == f"sql_agg({canonical}, min=5)"
    assert parse_rule(rule_text(rule)) == rule
    compile_text(rule_text(rule), SCHEMA)


def test_every_term_is_asked_once() -> None:
    text = "sql_agg(sum(amount * 2) + sum(amount * 2) / count(*) - count(count), min=0)"
    asked = compile_text(text, SCHEMA).measures
    assert [type(measure) for measure in asked] == [Aggregate, RowCount, CountIf]
    (total, *_) = asked
    assert isinstance(total, Aggregate)
    assert isinstance(total.column, Calculation)
    (distinct,) = compile_text("sql_agg(count(distinct key), min=1)", SCHEMA).measures
    assert isinstance(distinct, DistinctCount)


@pytest.mark.parametrize(
    ("total", "expected", "observed"),
    [
        ("sum(amount)", "sum(amount) is 6.6", "6.6"),
        ("sum(amount * 2) - 3 * min(amount)", "is 9.9", "9.9"),
        ("sum(amount) / count(*)", "is 2.2", 2.2),
        ("sum(count) / count(count)", "is 2.5", 2.5),
        ("avg(count)", "is 2.5", 2.5),
        ("max(length(key)) + count(*)", "is 4", "4"),
        ("sum(if(key = 'a', 1, 0)) % 2", "is 0", "0"),
        ("1 / 3 * count(*)", "", None),
    ],
)
def test_values(total: str, expected: str, observed: Any) -> None:
    if observed is None:
        assert "use an aggregate" in refusal(f"sql_agg({total}, min=0)").message
        return
    found = judged(f"sql_agg({total}, min=0)", AMOUNTS)
    assert found.outcome is Outcome.PASS
    assert expected in found.message
    assert found.observed == observed


def test_limits_are_exact_where_the_value_is() -> None:
    assert judged("sql_agg(sum(amount), max=6.6)", AMOUNTS).outcome is Outcome.PASS
    assert judged("sql_agg(sum(amount), max=6.59)", AMOUNTS).outcome is Outcome.FAIL
    assert judged("sql_agg(sum(amount) / 3, min=2.2)", AMOUNTS).outcome is Outcome.PASS
    warned = judged("sql_agg(sum(amount)) warn_if > 6", AMOUNTS)
    assert warned.outcome is Outcome.WARN


def test_no_value_and_no_number_fail() -> None:
    empty = judged("sql_agg(sum(amount) / count(*), min=0)", [])
    assert empty.outcome is Outcome.FAIL
    assert "has no value" in empty.message
    nothing = judged("sql_agg(count(*) / count(amount), min=0)", [row()])
    assert nothing.outcome is Outcome.FAIL
    nan = judged("sql_agg(sum(delay), min=0)", [row(delay=NAN)])
    assert (nan.outcome, nan.observed) == (Outcome.FAIL, "NaN")


def test_where_chooses_the_rows() -> None:
    found = judged("sql_agg(sum(amount), max=4) where key = 'a'", AMOUNTS)
    assert found.outcome is Outcome.PASS
    assert found.message == "sum(amount) where key = 'a' is 3.3, limit at most 4"


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("sql_agg(5, min=0)", "5", "use an aggregate"),
        ("sql_agg(2 * 3 + sum(amount), min=0)", "2 * 3", "use an aggregate"),
        ("sql_agg(amount, min=0)", "amount", "a number or one of sum, min, max, avg, count"),
        ("sql_agg(sum(sum(amount)), min=0)", "sum", "unknown function"),
        ("sql_agg(sum(5), min=0)", "sum(5", "names no column"),
        ("sql_agg(sum(name), min=0)", "name", "sum needs a number here"),
        ("sql_agg(max(day), min=0)", "day", "max needs a number here"),
        ("sql_agg(count(distinct length(name)), min=0)", "length", "needs a column"),
        ("sql_agg(sum(amoun), min=0)", "amoun", "unknown column amoun"),
        ("sql_agg(sum(amount))", "sql_agg", "needs min, max, warn_if or fail_if"),
        ("sql_agg(sum(amount) > 5)", ">", "',' or ')' expected"),
    ],
)
def test_refusals_stand_where_the_mistake_is(text: str, at: str, message: str) -> None:
    error = refusal(text)
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


def test_a_long_chain_of_divisions_is_understood_at_once() -> None:
    """Each part is looked at once: in time that doubles with every part, this would take hours."""
    parts = " / ".join(["count(count)", *["count(*)"] * 25])
    assert compile_text(f"sql_agg({parts}, min=0.5)", SCHEMA).measures


def test_the_id_names_the_columns() -> None:
    rule = parse_rule("sql_agg(sum(amount * count) / sum(amount), min=0)")
    assert default_rule_id(rule) == "sql_agg.amount.count"
