"""What gives cause for an alert, on each kind of State: told with what happened, and once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Enforcement, PolicyType, Severity
from lakeguard_sdk.expressions.measures import Aggregate, CountIf, measure_key
from lakeguard_sdk.model.definitions import ColumnDefinition, RuleDefinition
from lakeguard_sdk.model.notifications import Alert, AlertKind, Topic
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    numbers,
    opened,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import compact_by_hand, evidence_of, run_by_hand
from tests.support.projects.alert_channels import (
    ALERT,
    BLOCK,
    alert_sender,
    block,
)
from tests.support.projects.planes import NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state")

FRESH = promise(PolicyType.SLA, "freshness <= 24h", enforcement=Enforcement.ALERT)


def raised(client: Client, kind: AlertKind | None = None) -> list[Alert]:
    return [row.alert for row in client.notifications.rows(Topic.ALERT, kind=kind)]


def fail(client: Client, task: str, *, retryable: bool, message: str = "it broke") -> RunResult:
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    failure = Failure(code="LG-4001", message=message, retryable=retryable)
    return client.runs.fail_run(plan.ticket, failure)


def test_a_block_is_told_with_its_decision(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), policies=(BLOCK,))
    run = block(client)
    (alert,) = raised(client)
    decision = client.reader.decision(run)
    assert (alert.kind, alert.severity) == (AlertKind.BLOCKED, Severity.FAIL)
    assert (alert.run_id, alert.decision_id) == (run, decision.decision_id)
    assert (alert.dataset, alert.domain, alert.owner) == (NUMBERS, "test", "tests")
    assert alert.raised_at == decision.ruling.decided_at
    assert alert.details["reasons"] == list(decision.ruling.reasons)


def test_neither_is_there_without_the_other(tmp_path: Path) -> None:
    """The transaction of the decision is undone; the alert goes with it."""
    client = world(tmp_path, numbers(), policies=(BLOCK,))
    database = alert_sender(client).state.database
    with database.write() as connection:
        refuse = (
            "BEGIN SELECT RAISE(ABORT, 'append-only'); END"
            if connection.dialect.name == "sqlite"
            else "FOR EACH ROW EXECUTE FUNCTION lakeguard_refuse_change()"
        )
        connection.execute(text(f"CREATE TRIGGER no_end BEFORE INSERT ON run_history {refuse}"))
    with pytest.raises(Exception, match="append-only"):
        block(client)
    with database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM decisions")) == 0
    assert raised(client) == []


def test_rules_that_warn_and_policies_that_alert_are_told(tmp_path: Path) -> None:
    rule = RuleDefinition(
        rule_id="many",
        rule_type="ROW_COUNT",
        expression="row_count(min=3)",
        severity=Severity.WARN,
    )
    client = world(tmp_path, numbers(rules=(rule,)), policies=(ALERT,))
    run_by_hand(client, [1])
    described = {alert.kind: alert for alert in raised(client)}
    assert set(described) == {AlertKind.RULE, AlertKind.POLICY}
    assert (described[AlertKind.RULE].check, described[AlertKind.POLICY].check) == (
        "many",
        "promise",
    )
    assert described[AlertKind.RULE].details["expression"] == "row_count(min=3)"
    assert {alert.severity for alert in described.values()} == {Severity.WARN}
    run_by_hand(client, [1, 2, 3])
    assert len(raised(client, AlertKind.RULE)) == 1, "what passes is not told"


def test_a_failure_is_told_after_its_last_attempt(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    task = client.operations.submit(NUMBERS, "test")
    for attempt in (1, 2, 3):
        assert raised(client) == [], attempt
        ended = fail(client, task, retryable=True)
        assert client.operations.requeue(task) is (attempt < 3)
    (alert,) = raised(client)
    assert (alert.kind, alert.run_id) == (AlertKind.FAILED, ended.run_id)
    assert "after 3 attempts" in alert.message


def test_a_failure_that_does_not_pass_is_told_at_once(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    fail(client, client.operations.submit(NUMBERS, "test"), retryable=False)
    (alert,) = raised(client)
    assert alert.details == {"code": "LG-4001", "attempts": 1, "task": "build"}


def test_a_run_that_died_is_told(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers())
    with dying_at("stage.written"):
        run_by_hand(client, [1])
    turned_clock.pass_time(1_000)
    assert len(client.operations.reap()) == 1
    assert client.operations.reap() == []
    (alert,) = raised(client)
    assert alert.details["code"] == "LG-4003"


def test_what_an_engine_said_is_not_told(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    given = "cannot cast 'ada@example.com' to long"
    fail(client, client.operations.submit(NUMBERS, "test"), retryable=False, message=given)
    (alert,) = raised(client)
    assert "ada@" not in alert.to_json()


def test_what_a_rule_observed_is_not_told(tmp_path: Path) -> None:
    column = ColumnDefinition(name="n", type="long", tags=("pii",))
    rule = RuleDefinition(
        rule_id="low", rule_type="RANGE", expression="range(n, max=5)", severity=Severity.WARN
    )
    client = world(tmp_path, numbers(columns=(column,), rules=(rule,)))
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1, 987_654_321])
    measured = {measure_key(m): 1 for m in plan.measures if isinstance(m, CountIf)}
    measured |= {measure_key(m): 987_654_321 for m in plan.measures if isinstance(m, Aggregate)}
    given = {"measures": {**evidence.measures, **measured}}
    assert client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=given)).allowed
    (alert,) = raised(client)
    assert (alert.check, alert.details["failed_rows"]) == ("low", 1)
    assert "987654" not in alert.to_json().replace(",", "")


def test_a_rollback_is_told_and_a_compaction_is_not(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(load="APPEND"))
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    compact_by_hand(client)
    assert raised(client) == []
    client.operations.rollback(NUMBERS, 1, "the second was wrong")
    (alert,) = raised(client)
    assert (alert.kind, alert.details["version"]) == (AlertKind.ROLLBACK, 1)
    assert "the second was wrong" in alert.message


def test_what_is_late_is_told_once_until_it_ends(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers(), policies=(FRESH,))
    assert list(client.notifications.sweep()) == [], "what never was promoted is not late"
    run_by_hand(client, [1])
    turned_clock.pass_time(90_000)
    (first,) = client.notifications.sweep()
    assert (first.kind, first.severity, first.check) == (AlertKind.LATE, Severity.WARN, "promise")
    for _ in range(3):
        turned_clock.pass_time(90_000)
        assert list(client.notifications.sweep()) == [], (
            "it is the same breach, however long it lasts"
        )
    run_by_hand(client, [2])
    assert list(client.notifications.sweep()) == []
    turned_clock.pass_time(90_000)
    (second,) = client.notifications.sweep()
    assert second.dedupe_key != first.dedupe_key
    assert raised(client, AlertKind.LATE) == [second, first]


def test_a_version_of_a_clock_that_was_ahead_is_late_in_time(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = world(tmp_path, numbers(), policies=(FRESH,))
    run_by_hand(client, [1])
    turned_clock.pass_time(3_600 + 30 * 86_400)
    ahead = run_by_hand(client, [2])
    assert ahead.version == 2
    turned_clock.pass_time(-30 * 86_400)
    assert list(client.notifications.sweep()) == [], "as old as the run before it"
    fail(client, client.operations.submit(NUMBERS, "test"), retryable=False)
    turned_clock.pass_time(23.5 * 3_600)
    assert list(client.notifications.sweep()) == [], "as old as the run after it"
    turned_clock.pass_time(3_600)
    (alert,) = client.notifications.sweep()
    assert "last promoted 1 d 30 m ago" in alert.message
    turned_clock.pass_time(3_600)
    assert list(client.notifications.sweep()) == [], "raised once"


def test_another_promise_is_another_breach(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers(), policies=(FRESH,))
    run_by_hand(client, [1])
    turned_clock.pass_time(90_000)
    assert len(client.notifications.sweep()) == 1
    stricter = promise(PolicyType.SLA, "freshness <= 1h", enforcement=Enforcement.BLOCK)
    revise(client, policies=(stricter,))
    (alert,) = client.notifications.sweep()
    assert alert.severity is Severity.FAIL
    revise(client, numbers(active=False))
    turned_clock.pass_time(90_000)
    assert list(client.notifications.sweep()) == [], "what is switched off promises nothing"


def test_alerts_are_listed_by_time_and_kind(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers(), policies=(BLOCK,))
    block(client)
    then = turned_clock.now + timedelta(seconds=1)
    turned_clock.pass_time(5)
    last = block(client)
    assert [row.alert.run_id for row in client.notifications.rows(Topic.ALERT, since=then)] == [
        last
    ]
    assert len(client.notifications.rows(Topic.ALERT)) == 2
    assert [row.alert.run_id for row in client.notifications.rows(Topic.ALERT, limit=1)] == [last]
    assert client.notifications.rows(Topic.ALERT, kind=AlertKind.FAILED) == []
