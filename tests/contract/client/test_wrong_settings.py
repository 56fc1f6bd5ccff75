"""A job whose registered settings cannot be read runs nothing, and everybody is told why."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.validation import kind_invariants
from lakeguard.scheduler.triggers.tick import tick
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.databases.databases import KINDS
from tests.support.projects.job_graphs import (
    LOAD,
    REPORT,
    deployed_world,
    revise,
)
from tests.support.projects.planes import NUMBERS
from tests.support.projects.queues import (
    BUSY,
    Queue,
    job,
    make_queue,
)
from tests.support.projects.triggered_jobs import job as triggered
from tests.support.projects.triggered_jobs import make_plane

BLOCKED = TaskState.BLOCKED
NO_NUMBER = "write a number from 1 to 1,000"


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows may be older than the check that would refuse them now."""
    monkeypatch.setattr(kind_invariants, "job_errors", lambda *_: iter(()))


@pytest.fixture
def queue(state: Database) -> Queue:
    return make_queue(state, job("sweep"), job("mop"))


def with_setting(definition: JobDefinition, **given: str) -> JobDefinition:
    return definition.model_copy(update={"config": {**definition.config, **given}})


@pytest.mark.parametrize(
    ("key", "text", "given"),
    [
        ("concurrency", "many", f"concurrency: {NO_NUMBER}"),
        ("timeout", "soon", "timeout: write a duration such as 90s, 15m or 2h, at most 7d"),
        ("status#ActiveConfig", "perhaps", "status#ActiveConfig: write true or false"),
        ("pool", "big", "pool: unknown key"),
    ],
)
def test_a_claim_refuses_what_it_would_have_to_guess(
    queue: Queue, key: str, text: str, given: str
) -> None:
    (task_id,), (mop,) = queue.put("sweep", priority=5), queue.put("mop")
    queue.define(with_setting(job("sweep"), **{key: text}))
    assert queue.take(5) == [mop], "others are not held up"
    last = queue.transitions(task_id)[-1]
    assert (last.to_state, last.code, last.attempt) == (BLOCKED, "LG-3330", 0)
    assert (last.message or "").startswith(f"invalid settings of job sweep: {given}")


def test_an_attempt_that_is_due_again_is_refused_too(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    (given,) = queue.claim()
    queue.report(given.ticket, BUSY)
    queue.define(with_setting(job("sweep"), labels="GPU"))
    queue.clock.pass_time(3600)
    assert queue.queue_retries() == [task_id]
    assert queue.take() == []
    assert queue.transitions(task_id)[-1].code == "LG-3330"
    queue.define(job("sweep"))
    queue.retry(task_id)
    assert queue.take() == [task_id], "once it is right again"


@pytest.mark.usefixtures("each_state")
def test_a_launch_is_refused_and_recorded(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, with_setting(REPORT, concurrency="many"))
    refused = client.jobs.trigger("report", "tests", key="one")
    (reported,) = client.jobs.transitions(refused.task_id)
    assert (reported.to_state, reported.code) == (BLOCKED, "LG-3330")
    assert reported.message == f"invalid settings of job report: concurrency: {NO_NUMBER}"
    revise(client, REPORT)
    assert client.jobs.retry(refused.task_id).state is TaskState.QUEUED


@pytest.mark.usefixtures("each_state")
def test_a_build_by_hand_is_refused_by_name(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, with_setting(LOAD, **{"status#ActiveConfig": "perhaps"}))
    result = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert not isinstance(result, RunPlan)
    assert result.decision is not None
    assert result.decision.ruling.reasons == (
        "job: invalid settings of job load: status#ActiveConfig: write true or false",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_dispatcher_tells_of_a_job_that_never_starts(kind: str, tmp_path: Path) -> None:
    plane = make_plane(kind, tmp_path)
    plane.apply(triggered("ours", schedule="hourly"), triggered("lost", schedule="hourly"))
    plane.apply(triggered("lost", schedule="evrey hour"), deployed=False)
    tick(plane.context, plane.watch)
    done = tick(plane.at("2026-01-01T01:00:00+00:00").context, plane.watch)
    text = "with wrong settings, so nothing of them runs: lost. Next: lakeguard validate"
    assert (done.scheduled, done.refused, done.problems) == (1, 0, (text,))
