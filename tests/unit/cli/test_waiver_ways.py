"""The way out of failing rules, told only where it is one."""

from __future__ import annotations

import shlex

import pytest

from lakeguard.services.explain_decision import waiver_ways
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.model.decision import CheckResult
from tests.support.cases import models


def check(kind: CheckKind, outcome: Outcome) -> CheckResult:
    return CheckResult(
        kind=kind, check_id=f"{kind}.x", expression="x", outcome=outcome, message="m"
    )


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([(CheckKind.RULE, Outcome.FAIL)], 1),
        ([(CheckKind.RULE, Outcome.FAIL), (CheckKind.POLICY, Outcome.WARN)], 1),
        ([(CheckKind.RULE, Outcome.FAIL), (CheckKind.POLICY, Outcome.FAIL)], 0),
        ([(CheckKind.RULE, Outcome.FAIL), (CheckKind.RULE, Outcome.ERROR)], 0),
        ([(CheckKind.ELIGIBILITY, Outcome.FAIL)], 0),
        ([(CheckKind.RULE, Outcome.PASS)], 0),
    ],
)
def test_a_waiver_is_named_where_it_would_help(
    checks: list[tuple[CheckKind, Outcome]], expected: int
) -> None:
    decision = models.decision(*(check(kind, outcome) for kind, outcome in checks))
    ways = list(waiver_ways(decision, models.NOW))
    assert len(ways) == expected
    assert all(way.command.startswith("lakeguard waive silver.flights rule.x ") for way in ways)
    assert list(waiver_ways(None, models.NOW)) == []


def test_each_rule_has_a_command_of_its_own_that_a_shell_takes() -> None:
    checks = [models.check(f"range(n, max={n})", Outcome.FAIL) for n in range(1, 13)]
    one, two, *_, last = ways = list(waiver_ways(models.decision(*checks), models.NOW))
    assert shlex.split(one.command) == [
        *("lakeguard", "waive", "silver.flights", "range(n, max=1)"),
        *("--until", "2026-02-07", "--reason", "…", "--approver", "NAME"),
    ]
    assert "range(n, max=2)" in two.command
    assert len(ways) == 10
    assert last.when == ("Waive range(n, max=10), and 2 other rules temporarily and rerun")
    some = list(waiver_ways(models.decision(*checks[:5]), models.NOW))
    assert [shlex.split(way.command)[3] for way in some] == [c.check_id for c in checks[:5]]
