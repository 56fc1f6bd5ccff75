"""Entries of a Delta log that nobody may write or nobody can read: damage until it is undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.cli.rendering.status import Badge
from lakeguard.state.schema import promotion_current
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Outcome, RunStatus
from lakeguard_sdk.errors import MoveError, TableUnreadable
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.model.run import Intent, RunPlan, RunResult, failure_of
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.publish.commit import commit_publish
from tests.support.lakes.damaged_logs import (
    Damage,
    cases,
    log_of,
    status,
    three_versions,
)
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.planes import NUMBERS


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return three_versions(tmp_path / "lake")


def promotable(client: Client) -> bool:
    with client.reader.state.read() as tx:  # type: ignore[attr-defined]
        return bool(tx.scalar(select(promotion_current.c.allowed)))


def refusal(result: RunResult) -> str:
    assert result.status is RunStatus.BLOCKED
    assert result.decision is not None
    (failed,) = (c for c in result.decision.ruling.checks if c.outcome is Outcome.FAIL)
    return failed.message


@pytest.mark.parametrize("damage", cases(pytest.mark.soak))
def test_a_damaged_log_is_told_and_undone(client: Client, damage: Damage) -> None:
    damage(log_of(client))
    assert "lakeguard undo bronze.numbers" in refusal(run_by_hand(client, [4]))
    assert status(client)[0] is Badge.DAMAGED
    assert promotable(client) is False
    assert "damaged" in {row.notification.kind for row in client.notifications.rows(Topic.ALERT)}
    assert client.ledger.verify().findings != ()
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert status(client)[1] == ""
    assert shown(Path(client.lake)) == [1, 2, 3]
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 2, 3, 4]


def begun(client: Client, numbers: list[int]) -> tuple[RunPlan, Intent]:
    """A run that was allowed and has taken the table's next number."""
    task = client.operations.submit(NUMBERS, "by hand")
    plan = client.runs.open_run(task, this_process("by hand"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, numbers))
    assert decision.allowed
    return plan, client.runs.begin_move(plan.ticket)


def published(client: Client, plan: RunPlan, intent: Intent) -> RunResult:
    try:
        commit = commit_publish(intent)
        return client.runs.complete_move(plan.ticket, commit)
    except MoveError as error:
        return client.runs.fail_run(plan.ticket, failure_of(error))


@pytest.mark.parametrize("damage", cases(pytest.mark.soak))
def test_damage_during_a_move_ends_its_run_at_once(client: Client, damage: Damage) -> None:
    plan, intent = begun(client, [4])
    damage(log_of(client))
    ended = published(client, plan, intent)
    if ended.status is RunStatus.SUCCESS:  # nothing that a writer reads was damaged
        assert run_by_hand(client, [5]).status is RunStatus.BLOCKED
    elif ended.error is not None and ended.error.retryable:  # a commit of somebody else
        assert "lakeguard undo" in refusal(run_by_hand(client, [5]))
    else:
        assert ended.error is not None
        assert ended.error.code == TableUnreadable.code
    assert status(client)[0] is Badge.DAMAGED
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    numbers = [1, 2, 3, 4] if ended.status is RunStatus.SUCCESS else [1, 2, 3]
    assert shown(Path(client.lake)) == numbers
    assert status(client)[1] == ""
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [6]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [*numbers, 6]
