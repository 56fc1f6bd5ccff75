"""What a failure comes to, and how long it is waited: for any attempt and any settings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.dispatch.retry import ended_as, pause
from lakeguard.dispatch.task_changes import ALLOWED, is_allowed
from lakeguard.dispatch.task_row import Task
from lakeguard.settings.settings import DispatchSettings
from lakeguard_sdk.core.enums import (
    QUEUED_KINDS,
    RunStatus,
    TaskKind,
    TaskState,
)
from lakeguard_sdk.model.run import Failure

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@st.composite
def rules(draw: st.DrawFn) -> DispatchSettings:
    first = draw(st.integers(1, 3600))
    longest = draw(st.integers(first, 86_400))
    return DispatchSettings(backoff_first_seconds=first, backoff_longest_seconds=longest)


def running(kind: TaskKind, attempt: int, most: int, cause: str | None) -> Task:
    return Task(
        task_id="task_x",
        org_id="o",
        kind=kind,
        dataset_id="d",
        dedupe_key="k",
        parameters="{}",
        triggered_by="t",
        created_at=NOW,
        max_attempts=most,
        state=TaskState.RUNNING,
        attempt=attempt,
        run_id="run_x",
        lease_token="lease_x",
        lease_expires_at=NOW,
        worker=None,
        job_id=None,
        due_at=None,
        priority=0,
        labels="",
        dag_version_id=None,
        cause=cause,
        changes=2,
    )


@given(attempt=st.integers(1, 10_000), rules=rules(), luck=st.floats(0, 1))
def test_a_pause_grows_to_its_longest_and_no_further(
    attempt: int, rules: DispatchSettings, luck: float
) -> None:
    found = pause(attempt, rules, luck)
    longest = timedelta(seconds=rules.backoff_longest_seconds)
    assert timedelta(0) < found <= longest
    assert found >= pause(attempt, rules, 0)
    assert pause(attempt, rules, 1) == 2 * pause(attempt, rules, 0)
    assert pause(attempt + 1, rules, luck) >= found


@given(
    kind=st.sampled_from(TaskKind),
    status=st.sampled_from(RunStatus),
    attempt=st.integers(1, 9),
    most=st.integers(1, 9),
    retryable=st.booleans(),
    cause=st.none() | st.just("{}"),
    rules=rules(),
)
def test_an_end_leads_to_a_state_that_may_follow(
    kind: TaskKind,
    status: RunStatus,
    attempt: int,
    most: int,
    retryable: bool,
    cause: str | None,
    rules: DispatchSettings,
) -> None:
    failure = Failure(code="X", message="x", retryable=retryable)
    state, due_at = ended_as(running(kind, attempt, most, cause), status, failure, NOW, rules)
    assert is_allowed(TaskState.RUNNING, state)
    again = status is RunStatus.FAILED and retryable and kind in QUEUED_KINDS and attempt < most
    by_hand = kind is TaskKind.BUILD and cause is None
    assert (due_at is not None) is (again and not by_hand)
    assert (state is TaskState.DEAD) is (
        status is RunStatus.FAILED and retryable and kind in QUEUED_KINDS and attempt >= most
    )
    assert due_at is None or due_at > NOW


def test_nothing_follows_what_is_done_and_everything_else_can_come_to_it() -> None:
    assert not ALLOWED[TaskState.COMPLETED]
    assert set(ALLOWED) == {None, *TaskState}
    for state in TaskState:
        reach, look = set(), [state]
        while look:
            reach.add(look[-1])
            look += ALLOWED[look.pop()] - reach
        assert TaskState.COMPLETED in reach
