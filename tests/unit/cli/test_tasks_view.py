"""Tasks on the terminal: lists, the way of one, and what a worker says."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import click
import pytest

from lakeguard.cli.rendering.tasks import cause_words, task_lines, tasks_lines
from lakeguard.cli.rendering.worker import WorkerPrinter
from lakeguard.worker import Ended, Ending, WorkerEvent
from lakeguard_sdk.core.enums import CauseKind, TaskKind, TaskState
from lakeguard_sdk.model.run import Failure, Window, WorkerIdentity
from lakeguard_sdk.scheduling.tasks import Cause, TaskRow, Transition
from tests.support.projects.assignments import attempt_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
WORKER = WorkerIdentity(name="worker", host="north", pid=7, process_mark="x")


def change(number: int, to: TaskState, **fields: object) -> Transition:
    given = {"attempt": 0, "from_state": None, "actor": "cron", "at": NOW, **fields}
    return Transition.model_validate({"number": number, "to_state": to, **given})


def row(state: TaskState = TaskState.RUNNING, **fields: object) -> TaskRow:
    given = {
        "task_id": "task_1",
        "kind": TaskKind.PYTHON,
        "job": "nightly",
        "dedupe_key": "cron:2026-01-31T06:00:00Z",
        "state": state,
        "attempt": 1,
        "max_attempts": 3,
        "priority": 0,
        "created_at": NOW - timedelta(minutes=5),
        "triggered_by": "dispatcher",
        **fields,
    }
    return TaskRow.model_validate(given)


def plain(lines: list[str]) -> list[str]:
    return [click.unstyle(line) for line in lines]


def test_a_list_says_who_has_what_and_why() -> None:
    held = row(worker=WORKER, lease_expires_at=NOW + timedelta(seconds=97.4))
    late = row(worker=WORKER, lease_expires_at=NOW - timedelta(seconds=1))
    last = change(3, TaskState.FAILED, code="LG-5651", message="no\x1b[31m rows " + "x" * 200)
    failed = row(TaskState.FAILED, attempt=3, last=last)
    head, *lines = plain(tasks_lines([held, late, failed], NOW))
    assert head.split() == ["TASK", "JOB", "STATE", "ATTEMPT", "LEASE", "WORKER", "CREATED", "WHY"]
    assert "▶ running   1/3" in lines[0]
    assert "97 s left   north:7   5 min ago" in lines[0]
    assert "expired" in lines[1]
    assert "! failed" in lines[2]
    assert "LG-5651 no\\x1b[31m rows xxx" in lines[2]
    assert lines[2].endswith("…")
    assert tasks_lines([], NOW) == ["no tasks"]


def test_a_list_says_why_there_is_a_task_that_needs_no_other_reason() -> None:
    at = Cause(kind=CauseKind.CRON, details={"at": "2026-01-31T06:00:00Z"})
    _, caused, by_hand = plain(tasks_lines([row(cause=at), row(triggered_by="cli:ann")], NOW))
    assert caused.endswith("its schedule, due at 2026-01-31T06:00:00Z")
    assert by_hand.endswith("started by cli:ann")


def test_the_way_of_a_task_is_a_picture() -> None:
    way = [
        change(1, TaskState.QUEUED),
        change(2, TaskState.RUNNING, attempt=1, actor="north:7"),
        change(3, TaskState.FAILED, attempt=1, code="LG-5651", message="no rows"),
    ]
    lines = plain(task_lines(row(TaskState.FAILED, labels=("gpu",)), way, NOW))
    assert lines[0] == "task_1  nightly  ! failed"
    assert "  attempts   1 of 3" in lines
    assert "  labels     gpu" in lines
    begin = lines.index("  ● queued    2026-01-31 12:00:00 UTC               cron")
    assert lines[begin + 1 :] == [
        "  │",
        "  ● running   2026-01-31 12:00:00 UTC   attempt 1   north:7",
        "  │",
        "  ● failed    2026-01-31 12:00:00 UTC   attempt 1   cron",
        "      LG-5651 no rows",
        "",
        "Next: lakeguard tasks retry task_1",
    ]


def test_why_a_task_was_started_and_with_what() -> None:
    given = {"region": "north\x1b[31m", "note": "x" * 200}
    window = Window(column="day", start="2026-01-01", end="2026-01-02")
    started = row(
        cause=Cause(kind=CauseKind.MANUAL, details={"by": "cli:ada"}),
        day=date(2026, 1, 31),
        parameters=given,
        window=window,
        dag_version_id="dag_1",
    )
    lines = plain(task_lines(started, [], NOW))
    assert lines[2:9] == [
        "  kind       python",
        "  why        started manually by cli:ada",
        "  day        2026-01-31",
        "  set        region=north\\x1b[31m",
        "             note=" + "x" * 94 + "…",
        "  window     day 2026-01-01 to 2026-01-02",
        "  key        cron:2026-01-31T06:00:00Z",
    ]
    assert "  graph      dag_1" in lines


@pytest.mark.parametrize(
    ("kind", "details", "words"),
    [
        ("cron", {"at": "2026-01-31T06:00:00Z"}, "its schedule, due at 2026-01-31T06:00:00Z"),
        ("update", {"versions": {"silver.a": 4, "silver.b": 2}},
         "new versions: silver.a v4, silver.b v2"),
        ("files", {"path": "landing/a.csv", "size": 7, "modified_ns": "1"},
         "file landing/a.csv of 7 bytes"),
        ("event", {"source": "shop", "id": "17", "type": "order"}, "event 17 of shop (order)"),
        ("after", {"tasks": {"load": "task_0"}}, "after load (task_0)"),
        ("manual", {"by": "cli:ada"}, "started manually by cli:ada"),
        ("invalidation", {"invalidations": ["inv_1"]}, "invalidated: inv_1"),
    ],
)  # fmt: skip
def test_every_cause_has_its_words(kind: str, details: dict[str, object], words: str) -> None:
    assert cause_words(Cause(kind=CauseKind(kind), details=details)) == words
    assert cause_words(Cause(kind=CauseKind(kind)))


@pytest.mark.parametrize(
    ("state", "ways"),
    [
        (TaskState.QUEUED, ["cancel"]),
        (TaskState.RUNNING, ["cancel"]),
        (TaskState.COMPLETED, []),
        (TaskState.BLOCKED, ["retry"]),
        (TaskState.DEAD, ["retry"]),
    ],
)
def test_what_can_be_done_is_said(state: TaskState, ways: list[str]) -> None:
    lines = plain(task_lines(row(state), [], NOW))
    found = [line.split()[3] for line in lines if line.startswith("Next: ")]
    assert found == ways


def test_what_a_worker_says(capsys: pytest.CaptureFixture[str]) -> None:
    notes: list[str] = []
    times = iter([10.0, 12.5, 20.0, 20.0, 20.1])
    teller = WorkerPrinter(as_json=False, note=notes.append, clock=lambda: next(times))
    attempt = attempt_of()
    teller(WorkerEvent.BEGUN, attempt, None, "")
    teller(WorkerEvent.ENDED, attempt, Ended(Ending.SUCCEEDED, version=4), "")
    teller(WorkerEvent.AWAY, None, None, "no\nroute")
    teller(WorkerEvent.BACK, None, None, "")
    teller(WorkerEvent.STOPPING, None, None, "1")
    task = attempt.ticket.task_id
    assert plain(notes) == [
        f"▶ nightly  python, attempt 1 of {task}",
        "✓ nightly  succeeded as v4 in 2.5 s",
        "control plane unavailable, retrying: no\\nroute",
        "control plane available again",
        "stopping; 1 task running",
    ]
    assert capsys.readouterr().out == ""


def test_what_a_worker_says_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    teller = WorkerPrinter(as_json=True, note=lambda _: None, clock=lambda: 1.0)
    attempt = attempt_of()
    teller(WorkerEvent.BEGUN, attempt, None, "")
    failure = Failure(code="LG-5651", message="no rows")
    teller(WorkerEvent.ENDED, attempt, Ended(Ending.FAILED, failure), "")
    begun, ended = map(json.loads, capsys.readouterr().out.splitlines())
    ticket = attempt.ticket
    about = {"name": "nightly", "kind": "python", "task": ticket.task_id, "run": ticket.run_id}
    assert begun == {"event": "begun", "attempt": 1, **about}
    assert ended["ending"] == "failed"
    assert ended["error"] == {"code": "LG-5651", "message": "no rows", "retryable": False}
