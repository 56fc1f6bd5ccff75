"""`promotion_status.reason` says what was so, whatever the answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import RuleDefinition
from tests.contract.promotion.test_promotion_states import decide, rows
from tests.support.lakes.policy_datasets import numbers, world
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

FAILS = RuleDefinition(
    rule_id="present", rule_type="NOT_NULL", expression="not_null(n)", severity=Severity.FAIL
)
WARNS = RuleDefinition(
    rule_id="few", rule_type="IN_SET", expression="in_set(n, values=[1, 2])", severity=Severity.WARN
)
RESTS = FAILS.model_copy(update={"rule_id": "resting", "active": False})


def reasons(folder: Path) -> list[str]:
    return [row.reason for row in rows(folder)[1:]]


def test_only_when_all_passed_all_passed(tmp_path: Path) -> None:
    decide(world(tmp_path, numbers(rules=(FAILS, WARNS))), 0)
    assert reasons(tmp_path) == ["all checks passed"] * 2


def test_warnings_and_waivers_are_told(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(FAILS, WARNS, RESTS)))
    decide(client, 1)
    until = datetime.now(UTC) + timedelta(days=1)
    client.operations.waive(NUMBERS, "present", approver="Ada", reason="late feed", until=until)
    decide(client, 1)
    blocked, eligible, promoted = reasons(tmp_path)
    assert blocked.startswith("present: ")
    assert eligible == promoted
    waived, warned, rested, passed = promoted.split("; ")
    assert waived.startswith("waived: present: 1 of 2")
    assert "by Ada until" in waived
    assert waived.endswith(": late feed")
    assert warned.startswith("warning: few: 1 of 2")
    assert rested == "resting: not evaluated: the rule is inactive"
    assert passed.endswith(" checks passed")
    assert not passed.startswith("all")


def test_a_rollback_is_told_as_one(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(WARNS,)))
    first = decide(client, 0)
    decide(client, 0)
    client.operations.rollback(NUMBERS, 1, "the feed was wrong")
    actor = client.operations.context.actor
    occasion = f"rollback to v1 by {actor} (the feed was wrong); its rules were judged by"
    told = f"{occasion} {first.decision_id}: all checks passed"
    assert reasons(tmp_path)[-2:] == [told, told]
