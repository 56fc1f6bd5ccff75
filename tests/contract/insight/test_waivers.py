"""Waivers over the ports of a control plane: granted, shown, ended, taken back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import (
    Enforcement,
    LoadType,
    Outcome,
    PolicyType,
    Severity,
)
from lakeguard_sdk.errors import (
    NotJudged,
    NotWaivable,
    UnknownCheck,
    UnknownWaiver,
    WaiverInvalid,
)
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.decision import CheckResult, Decision, WaiverRow
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS, Clock, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

RULE = RuleDefinition(
    rule_id="present",
    rule_type="NOT_NULL",
    expression="not_null(n)",
    severity=Severity.FAIL,
)
ALERT = PolicyDefinition(
    policy="owned",
    type=PolicyType.OWNERSHIP,
    expression="owner in [others]",
    enforcement=Enforcement.ALERT,
)


def world(folder: Path, *policies: PolicyDefinition) -> Client:
    usual = numbers_definitions(LoadType.FULL)
    (dataset,) = usual.datasets
    datasets = (dataset.model_copy(update={"rules": (RULE,)}),)
    return make_project(
        folder, Definitions(sources=usual.sources, datasets=datasets, policies=policies)
    )


def waive(client: Client, clock: Clock, check: str = "present", **text: Any) -> WaiverRow:
    usual: dict[str, Any] = {"approver": "Ada", "reason": "late feed", "days": 10}
    given = {**usual, **text}
    until = clock.now + timedelta(days=given.pop("days"))
    return client.operations.waive(NUMBERS, check, until=until, **given)


def decide(client: Client, failing: int | None = 1) -> Decision:
    """A run in which this many rows fail the rule; None: nobody counted them."""
    task = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1, 2])
    counts = {measure_key(m): failing for m in plan.measures if isinstance(m, CountIf)}
    measured = {**evidence.measures, **counts}
    decision = client.runs.submit_evidence(
        plan.ticket, evidence.model_copy(update={"measures": measured})
    )
    if decision.allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    assert client.reader.replay(plan.ticket.run_id).identical
    return decision


def check_of(decision: Decision, check_id: str = "present") -> CheckResult:
    (found,) = [item for item in decision.ruling.checks if item.check_id == check_id]
    return found


def test_a_waived_rule_warns_and_says_who_answers(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    assert not decide(client).allowed
    row = waive(client, turned_clock)
    decision = decide(client)
    assert decision.allowed
    assert check_of(decision).outcome is Outcome.WARN
    assert "Ada until 2026-01-11" in str(check_of(decision).waived_by)
    assert "late feed" in str(check_of(decision).waived_by)
    assert client.reader.waivers(NUMBERS) == [row]
    assert client.reader.waivers() == [row]


def test_a_waiver_ends_by_itself(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    waive(client, turned_clock, days=1)
    assert decide(client).allowed
    turned_clock.now += timedelta(days=1)
    decision = decide(client)
    assert not decision.allowed
    assert check_of(decision).waived_by is None


def test_a_waiver_can_be_taken_back(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    row = waive(client, turned_clock)
    before = decide(client)
    back = client.operations.revoke_waiver(row.waiver.waiver_id, "the feed is fixed")
    assert back.revoked_for == "the feed is fixed"
    assert not decide(client).allowed
    assert client.reader.replay(before.run_id).identical, "what was decided stays decided"
    with pytest.raises(UnknownWaiver):
        client.operations.revoke_waiver(row.waiver.waiver_id, "again")
    with pytest.raises(UnknownWaiver):
        client.operations.revoke_waiver("wvr_unknown", "never was")


def test_an_alert_can_be_waived(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, ALERT)
    waive(client, turned_clock)
    assert check_of(decide(client), "owned").waived_by is None
    assert waive(client, turned_clock, "policy:owned").waiver.check_id == "owned"
    found = check_of(decide(client), "owned")
    assert (found.outcome, found.waived_by is None) == (Outcome.WARN, False)


def test_a_waiver_holds_for_what_the_check_said(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, ALERT)
    for check in ("present", "owned"):
        waive(client, turned_clock, check)
    assert check_of(decide(client)).waived_by is not None
    (dataset,) = numbers_definitions(LoadType.FULL).datasets
    other = RULE.model_copy(update={"expression": "not_null(n) fail_if > 10%"})
    changed = Definitions(
        datasets=(dataset.model_copy(update={"rules": (other,)}),),
        policies=(ALERT.model_copy(update={"expression": "owner in [nobody]"}),),
    )
    client.registry.apply(client.registry.plan(changed))
    decision = decide(client)
    assert not decision.allowed
    rule, policy = check_of(decision), check_of(decision, "owned")
    assert (rule.outcome, rule.waived_by) == (Outcome.FAIL, None)
    assert (policy.outcome, policy.waived_by) == (Outcome.WARN, None)


def test_a_block_policy_cannot_be_waived(tmp_path: Path, turned_clock: Clock) -> None:
    block = ALERT.model_copy(update={"enforcement": Enforcement.BLOCK})
    client = world(tmp_path, block)
    with pytest.raises(NotWaivable):
        waive(client, turned_clock, "owned")
    alert = client.registry.plan(Definitions(policies=(ALERT,)))
    client.registry.apply(alert)
    waive(client, turned_clock, "owned")
    client.registry.apply(client.registry.plan(Definitions(policies=(block,))))
    task = client.operations.submit(NUMBERS, "test")
    opened = client.runs.open_run(task, this_process("test"))
    assert not isinstance(opened, RunPlan), "what was an alert when it was waived blocks now"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"approver": "  "}, "it needs an approver"),
        ({"reason": ""}, "it needs a reason"),
        ({"reason": "two\nlines"}, "on one line"),
        ({"reason": "key AKIAIOSFODNN7EXAMPLE"}, "looks like a secret"),
        ({"days": 0}, "not in the future"),
        ({"days": -1}, "not in the future"),
        ({"days": 91}, "longer than 90 days"),
    ],
)
def test_a_waiver_says_who_why_and_until_when(
    tmp_path: Path, turned_clock: Clock, given: dict[str, Any], problem: str
) -> None:
    client = world(tmp_path)
    with pytest.raises(WaiverInvalid, match=problem):
        waive(client, turned_clock, **given)
    assert client.reader.waivers() == []


def test_only_what_is_checked_can_be_waived(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    with pytest.raises(UnknownCheck, match="did you mean present"):
        waive(client, turned_clock, "presence")


def test_a_waiver_names_its_failure_and_ends_with_it(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    failed = decide(client)
    row = waive(client, turned_clock)
    assert row.waiver.covers == failed.decision_id
    assert row.failure == f"{check_of(failed).message} in {failed.run_id}"
    assert decide(client).allowed
    assert decide(client, failing=0).allowed, "it passes again"
    (over,) = client.reader.waivers(NUMBERS)
    assert over.over_at is not None
    assert not over.is_active(turned_clock())
    assert not decide(client).allowed, "another failure was accepted by nobody"
    with pytest.raises(UnknownWaiver):
        client.operations.revoke_waiver(row.waiver.waiver_id, "it is over")


def test_a_waiver_before_any_failure_ends_with_the_first(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = world(tmp_path)
    row = waive(client, turned_clock)
    assert (row.waiver.covers, row.failure) == ("", "")
    for failing, allowed in ((0, True), (1, True), (1, True), (0, True), (1, False)):
        assert decide(client, failing).allowed is allowed


def test_what_could_not_be_judged_cannot_be_waived(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path)
    decision = decide(client, failing=None)
    assert check_of(decision).outcome is Outcome.ERROR
    with pytest.raises(NotJudged, match=decision.run_id):
        waive(client, turned_clock)
    assert client.reader.waivers() == []
