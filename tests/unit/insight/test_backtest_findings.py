"""What a back-test tells of a column that is hidden, whatever the column is called."""

from __future__ import annotations

import pytest

from lakeguard.insight.history.backtest_cases import finding
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.model.decision import CheckResult


def check(expression: str) -> CheckResult:
    return CheckResult(
        check_id="r",
        kind=CheckKind.RULE,
        outcome=Outcome.FAIL,
        expression=expression,
        message="max is 987,654,321, limit at most 5",
    )


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("max(`salary (€)`, max=5)", "salary (€)"),
        ("max(`größe?`, max=5)", "größe?"),
        ("max(`a``b`, max=5)", "a`b"),
        ("max(n, max=5) where `salary (€)` > 1", "salary (€)"),
        ("what nobody can read", "n"),
    ],
)
def test_no_value_of_it(expression: str, column: str) -> None:
    assert "987" not in finding(check(expression), {column}).message
    assert "987" in finding(check(expression), set()).message


def test_a_column_of_a_like_name_is_not_meant() -> None:
    assert "987" in finding(check("max(net_pay, max=5)"), {"pay", "net"}).message
