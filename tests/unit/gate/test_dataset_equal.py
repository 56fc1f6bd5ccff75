"""Two datasets that must have the same rows, each as often as the other."""

from __future__ import annotations

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError, parse_rule, rule_text
from lakeguard_sdk.core.enums import Outcome
from tests.unit.gate.cases import judged, refusal, row
from tests.unit.gate.test_nested_columns import SCHEMA as NESTED

NAN = float("nan")
ALL = "dataset_equal(-> silver.other)"
SOME = "dataset_equal(name, count -> silver.other(key, size))"


def test_the_same_rows_in_any_order_pass() -> None:
    data = [row(name="a", delay=NAN), row(name=None), row(name="a", delay=-0.0)]
    found = judged(ALL, data, others=[*data[1:], data[0] | {"delay": NAN}])
    assert (found.outcome, found.message) == (Outcome.PASS, "0 of 6 rows of both datasets")


def test_every_row_counts_that_one_side_has_more_often() -> None:
    data, others = [row(name="a"), row(name="a"), row(name="b")], [row(name="a"), row(name="c")]
    found = judged(ALL, data, others=others)
    assert (found.outcome, found.failed_rows, found.scope_rows) == (Outcome.FAIL, 3, 5)
    assert found.message == "3 of 5 rows of both datasets (60 %), none allowed"
    assert judged(f"{ALL} fail_if > 60%", data, others=others).outcome is Outcome.PASS


def test_nothing_is_equal_to_nothing_and_to_nothing_else() -> None:
    assert judged(ALL, [], others=[]).outcome is Outcome.PASS
    found = judged(ALL, [], others=[row(name="a")])
    assert (found.outcome, found.message) == (
        Outcome.FAIL, "1 of 1 rows of both datasets (100 %), none allowed",
    )  # fmt: skip


def test_only_the_columns_that_are_named_are_compared() -> None:
    data, others = [row(name="a", count=1, day=None)], [row(key="a", size=1, amount=7)]
    assert judged(SOME, data, others=others).outcome is Outcome.PASS


def test_it_is_the_table_that_is_compared() -> None:
    before, data = [row(name="a")], [row(name="b")]
    assert judged(ALL, data, before, others=[*data, *before]).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dataset_equal()", "a column expected"),
        ("dataset_equal(name)", "-> and a dataset with its columns expected"),
        (
            "dataset_equal(name -> silver.other)",
            "name the same number of columns on both sides of ->",
        ),
        (
            "dataset_equal(-> silver.other(a))",
            "name the same number of columns on both sides of ->",
        ),
        ("dataset_equal(name, key -> silver.other(a, a))", "duplicate column"),
        ("dataset_equal(-> silver.other) where count > 1", "where is not supported"),
        ("dataset_equal(-> silver.other) on_fail quarantine", "cannot be quarantined"),
        ("dataset_equal(-> silver.other) scope batch", "scope"),
        ("foreign_key(name -> silver.other)", "'(' expected"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert expected in refusal(text).message


def test_nested_columns_are_left_out_by_name() -> None:
    with pytest.raises(GrammarError, match="name the columns to compare, without this one"):
        compile_text(ALL, NESTED)
    assert compile_text("dataset_equal(n -> silver.other(n))", NESTED).measures


def test_one_spelling() -> None:
    assert rule_text(parse_rule("dataset_equal( ->silver.other )")) == ALL
    assert rule_text(parse_rule(SOME)) == SOME
