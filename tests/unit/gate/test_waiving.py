"""Waivers: what they touch, how they show, and when they end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lakeguard_sdk.core.enums import (
    Enforcement,
    Outcome,
    PolicyType,
    Severity,
    Verdict,
)
from lakeguard_sdk.model.decision import Waiver
from tests.unit.gate.cases import (
    CLOCK,
    evidence_of,
    facts,
    policy,
    result_of,
    row,
    rule,
    ruling,
    subject,
)

RULE = rule("not_null(key)")
ROWS = [row(key=None)]
WAIVER = Waiver(
    waiver_id="wvr_1",
    check_kind="rule",
    check_id=RULE.rule_id,
    expression=RULE.expression,
    approver="Ada",
    reason="late feed",
    granted_at=CLOCK - timedelta(days=1),
    until=CLOCK + timedelta(days=1),
)


def with_waivers(*waivers: Waiver) -> object:
    return facts(subject=subject(), waivers=waivers)


def test_a_failing_rule_becomes_a_warning_that_says_who_answers() -> None:
    bare = ruling(evidence_of((RULE,), ROWS), (RULE,))
    assert bare.verdict is Verdict.BLOCKED
    ruled = ruling(evidence_of((RULE,), ROWS), (RULE,), (), with_waivers(WAIVER))
    found = result_of(RULE.rule_id, ruled)
    assert (ruled.verdict, found.outcome) == (Verdict.ALLOWED, Outcome.WARN)
    assert found.waived_by == "Ada until 2026-02-01 12:00 UTC: late feed"
    assert found.message == result_of(RULE.rule_id, bare).message


@pytest.mark.parametrize(
    "change",
    [
        {"until": CLOCK},
        {"granted_at": CLOCK + timedelta(seconds=1)},
        {"check_id": "unique.key"},
        {"check_kind": "policy"},
        {"expression": "null_fraction(key, max=0.1)"},
    ],
    ids=["over", "not yet given", "of another rule", "of a policy", "of what the rule said before"],
)
def test_a_waiver_touches_nothing_else(change: dict[str, object]) -> None:
    other = WAIVER.model_copy(update=change)
    ruled = ruling(evidence_of((RULE,), ROWS), (RULE,), (), with_waivers(other))
    assert ruled.verdict is Verdict.BLOCKED
    assert result_of(RULE.rule_id, ruled).waived_by is None


def test_what_passes_and_what_cannot_be_judged_is_not_waived() -> None:
    case = with_waivers(WAIVER)
    passed = ruling(evidence_of((RULE,), [row(key="a")]), (RULE,), (), case)
    assert result_of(RULE.rule_id, passed).waived_by is None
    unmeasured = evidence_of((), ROWS)
    error = result_of(RULE.rule_id, ruling(unmeasured, (RULE,), (), case))
    assert (error.outcome, error.waived_by) == (Outcome.ERROR, None)


def test_an_alert_can_be_waived_and_a_block_never() -> None:
    of_policy = {"check_kind": "policy", "check_id": "guarantee"}
    waiver = WAIVER.model_copy(update={**of_policy, "expression": "owner in [others]"})
    for enforcement, outcome, verdict in (
        (Enforcement.ALERT, Outcome.WARN, Verdict.ALLOWED),
        (Enforcement.BLOCK, Outcome.FAIL, Verdict.BLOCKED),
    ):
        owned = policy("owner in [others]", PolicyType.OWNERSHIP, enforcement=enforcement)
        ruled = ruling(evidence_of((), ROWS), (), (owned,), with_waivers(waiver))
        found = result_of("guarantee", ruled)
        assert (found.outcome, ruled.verdict) == (outcome, verdict)
        assert (found.waived_by is not None) is (enforcement is Enforcement.ALERT)


def test_a_waived_warning_stays_a_warning() -> None:
    warn = rule("not_null(key)", Severity.WARN)
    ruled = ruling(evidence_of((warn,), ROWS), (warn,), (), with_waivers(WAIVER))
    assert result_of(warn.rule_id, ruled).outcome is Outcome.WARN


def test_of_two_waivers_the_longer_one_is_named_in_whatever_order() -> None:
    longer = WAIVER.model_copy(
        update={"waiver_id": "wvr_2", "approver": "Bob", "until": CLOCK + timedelta(days=2)}
    )
    for waivers in ((WAIVER, longer), (longer, WAIVER)):
        ruled = ruling(evidence_of((RULE,), ROWS), (RULE,), (), with_waivers(*waivers))
        assert str(result_of(RULE.rule_id, ruled).waived_by).startswith("Bob until")
