"""Limits and severities: when a rule warns, when it fails, what contradicts what."""

from __future__ import annotations

from itertools import product

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import GrammarError, parse_rule
from lakeguard_sdk.core.enums import Outcome, Severity
from tests.unit.gate.cases import judged, refusal, row, rule

PASS, WARN, FAIL = Outcome.PASS, Outcome.WARN, Outcome.FAIL


def outcome(clauses: str, failed: int, of: int, severity: Severity | None = None) -> Outcome:
    rows = [row(name=None if index < failed else "x") for index in range(of)]
    return judged(f"not_null(name) {clauses}", rows, severity=severity).outcome


@pytest.mark.parametrize(
    ("clauses", "of", "expected"),
    [
        ("fail_if > 0", 10, {0: PASS, 1: FAIL}),
        ("fail_if >= 2", 10, {1: PASS, 2: FAIL}),
        ("fail_if > 2", 10, {2: PASS, 3: FAIL}),
        ("warn_if > 0", 10, {0: PASS, 1: WARN, 10: WARN}),
        ("warn_if > 1 fail_if > 3", 10, {1: PASS, 2: WARN, 3: WARN, 4: FAIL}),
        ("fail_if > 10%", 10, {1: PASS, 2: FAIL}),
        ("fail_if >= 10%", 10, {0: PASS, 1: FAIL}),
        ("fail_if > 33.3%", 3, {0: PASS, 1: FAIL}),
        ("fail_if > 33.4%", 3, {1: PASS, 2: FAIL}),
        ("fail_if >= 100%", 3, {2: PASS, 3: FAIL}),
        ("warn_if > 0 fail_if > 50%", 4, {0: PASS, 1: WARN, 2: WARN, 3: FAIL}),
        ("warn_if > 25% fail_if > 2", 4, {1: PASS, 2: WARN, 3: FAIL}),
        ("fail_if > 0%", 0, {0: PASS}),
        ("fail_if >= 10%", 0, {0: PASS}),
    ],
)
def test_limits_are_exact(clauses: str, of: int, expected: dict[int, Outcome]) -> None:
    assert {failed: outcome(clauses, failed, of) for failed in expected} == expected


def test_per_cent_is_exact_where_doubles_are_not() -> None:
    """Seven of a thousand are 0.7 %, and not a hair more."""
    assert 7 / 1000 * 100 > 0.7
    assert outcome("fail_if > 0.7%", 7, 1000) is PASS
    assert outcome("fail_if >= 0.7%", 7, 1000) is FAIL


@pytest.mark.parametrize("failed", [0, 1])
@pytest.mark.parametrize("severity", [None, Severity.WARN, Severity.FAIL])
@pytest.mark.parametrize("clauses", ["", "warn_if > 0", "fail_if > 0", "warn_if > 0 fail_if > 1"])
def test_every_severity_with_every_limit(
    clauses: str, severity: Severity | None, failed: int
) -> None:
    """Severity alone, limits alone, or both where they agree."""
    contradicts = ("fail_if" in clauses and severity is Severity.WARN) or (
        clauses == "warn_if > 0" and severity is Severity.FAIL
    )
    if contradicts:
        with pytest.raises(GrammarError, match="contradicts"):
            rule(f"not_null(name) {clauses}", severity)
        return
    expected = {
        "": WARN if severity is Severity.WARN else FAIL,
        "warn_if > 0": WARN,
        "fail_if > 0": FAIL,
        "warn_if > 0 fail_if > 1": WARN,
    }[clauses]
    assert outcome(clauses, failed, 2, severity) is (expected if failed else PASS)


@pytest.mark.parametrize(
    ("clauses", "given", "derived"),
    [
        (clauses, given, derived)
        for (clauses, derived), given in product(
            [("", Severity.FAIL), ("warn_if > 0", Severity.WARN), ("fail_if > 0", Severity.FAIL)],
            [None],
        )
    ]
    + [("", Severity.WARN, Severity.WARN), ("fail_if > 5%", Severity.FAIL, Severity.FAIL)],
)
def test_the_severity_that_limits_imply(
    clauses: str, given: Severity | None, derived: Severity
) -> None:
    assert rule(f"not_null(name) {clauses}", given).severity is derived


def test_a_contradiction_points_at_its_clause() -> None:
    with pytest.raises(GrammarError) as caught:
        define_rule(parse_rule("not_null(a)   fail_if   > 0"), rule_id=None, severity=Severity.WARN)
    assert (caught.value.kind, caught.value.offset, caught.value.length) == ("meaning", 12, 11)


@pytest.mark.parametrize(
    ("clauses", "at", "message"),
    [
        ("fail_if < 5", "fail_if < 5", "need > or >="),
        ("fail_if = 5", "fail_if = 5", "need > or >="),
        ("fail_if >= 0", "fail_if >= 0", "even if no row fails"),
        ("fail_if > -1", "fail_if > -1", "even if no row fails"),
        ("fail_if >= 0%", "fail_if >= 0%", "even if no row fails"),
        ("fail_if > 0.5", "fail_if > 0.5", "row counts are whole numbers"),
        ("warn_if > 100%", "warn_if > 100%", "never true"),
        ("warn_if >= 101%", "warn_if >= 101%", "never true"),
        ("fail_if > 999999999999", "fail_if > 999999999999", "never true"),
        ("fail_if >= 100000000000", "fail_if >= 100000000000", "never true"),
        ("warn_if > 5 fail_if > 5", "warn_if > 5", "never applies"),
        ("warn_if > 5 fail_if > 4", "warn_if > 5", "never applies"),
        ("warn_if > 5% fail_if >= 5%", "warn_if > 5%", "never applies"),
    ],
)
def test_limits_that_mean_nothing(clauses: str, at: str, message: str) -> None:
    text = f"not_null(name) {clauses}"
    error = refusal(text)
    assert error.kind == "meaning"
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("mean(count, min=0) fail_if > 5", "fail_if > 5", "not both"),
        ("row_count(min=1) warn_if < 5", "warn_if < 5", "not both"),
        ("mean(count)", "mean", "needs min, max, warn_if or fail_if"),
        ("row_count", "row_count", "needs min, max, warn_if or fail_if"),
        ("mean(count) fail_if > 5%", "fail_if > 5%", "no percentage"),
        ("mean(count) warn_if < 5 fail_if < 6", "warn_if < 5", "never applies"),
        ("mean(count) warn_if = 5 fail_if = 5", "warn_if = 5", "never applies"),
        ("max(day) fail_if > 5", "fail_if > 5", "need min= or max="),
    ],
)
def test_limits_of_a_value_that_mean_nothing(text: str, at: str, message: str) -> None:
    error = refusal(text)
    assert error.kind == "meaning"
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


@pytest.mark.parametrize(
    "text",
    [
        "not_null(name) warn_if > 4 fail_if > 5",
        "not_null(name) warn_if >= 5 fail_if > 5",
        "not_null(name) warn_if > 5 fail_if > 1%",
        "mean(count) warn_if > 5 fail_if < 1",
        "mean(count) warn_if <= 5 fail_if < 5",
        "mean(count) warn_if <> 5 fail_if > 5",
    ],
)
def test_limits_that_complete_each_other(text: str) -> None:
    assert rule(text).severity is Severity.FAIL
