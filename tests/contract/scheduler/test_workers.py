"""Workers against a real control plane: what they take, how it ends, and what is left of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lakeguard.service_plane import ticket_reader
from lakeguard.settings import load_settings
from lakeguard.worker import Attempt, Ending, WorkerEvent
from lakeguard.worker.heartbeat import renew_leases
from lakeguard.worker.job_log import log_place
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import StateLoginRefused, StateUnavailable
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.assignments import write_job
from tests.support.projects.worker_jobs import (
    job_project,
    loop_of,
    python_job,
    task_of,
    why,
    work,
)

on_each_state = pytest.mark.usefixtures("each_state")
"""What asks the State for more than others do."""


@on_each_state
def test_a_job_succeeds_with_what_it_promised(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job(outputs="report"))
    write_job(
        tmp_path,
        """
        job.note(f"for {job.date} in {job.parameters['region']}")
        job.output("report", location="out.csv", rows=2)
        """,
        "nightly",
    )
    task = task_of(client, day=date(2026, 1, 31), set_to={"region": "eu"})
    assert work(client) == {Ending.SUCCEEDED: 1}
    row = client.jobs.task(task)
    assert why(row) == ("completed", None)
    assert row.run_id is not None
    assert Path(log_place(client.lake, row.run_id)).read_text() == "for 2026-01-31 in eu\n"
    states = [each.to_state for each in client.jobs.transitions(task)]
    assert states == [TaskState.QUEUED, TaskState.RUNNING, TaskState.COMPLETED]
    assert work(client) == {}


def test_ways_to_fail_side_by_side(tmp_path: Path) -> None:
    """Each ends by its own reason, and none stops another."""
    bodies = {
        "broken": "raise ValueError('no rows')",
        "empty": "pass",
        "again": "raise Retry('not yet')",
        "killed": "import os\nos.kill(os.getpid(), 9)",
    }
    client = job_project(tmp_path, *(python_job(name, outputs="report") for name in bodies))
    for name, body in bodies.items():
        write_job(tmp_path, body, name)
    tasks = {name: task_of(client, name) for name in bodies}
    assert work(client, slots=4) == {Ending.FAILED: 4}
    found = {name: client.jobs.task(task) for name, task in tasks.items()}
    assert {name: why(row) for name, row in found.items()} == {
        "broken": ("failed", "LG-5651"),
        "empty": ("failed", "LG-1611"),
        "again": ("failed", "LG-5652"),
        "killed": ("failed", "LG-5654"),
    }
    tried_again = {name for name, row in found.items() if row.due_at is not None}
    assert tried_again == {"again", "killed"}


@on_each_state
def test_a_job_outside_is_handed_over_and_reports_by_its_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_SECRET", SECRET)
    with receiver(202, 503) as outside:
        outside.reply = b""
        job = JobDefinition(
            job="train",
            type="http",
            details={"signing_secret": "env:JOB_SECRET"},
            config={"url": outside.url, "timeout": "2h", "outputs": "model"},
        )
        client = job_project(tmp_path, job)
        first, second = task_of(client, "train", key="a"), task_of(client, "train", key="b")
        assert work(client) == {Ending.HANDED_OVER: 1}
        assert why(client.jobs.task(first)) == ("running", None)
        (body,) = outside.bodies
        ticket = ticket_reader(load_settings(tmp_path))(body["token"])
        report = TaskReport.model_validate({"success": True, "outputs": {"model": {"rows": 3}}})
        assert client.dispatch.report(ticket, report).state is TaskState.COMPLETED
        assert work(client) == {Ending.FAILED: 1}
        assert why(client.jobs.task(second)) == ("failed", "LG-5657")


@on_each_state
def test_no_more_at_once_than_slots_and_jobs_allow(tmp_path: Path) -> None:
    """And as many as they allow: two of a job wait until they have met."""
    client = job_project(tmp_path, python_job(concurrency="2", timeout="1m"), python_job("alone"))
    write_job(tmp_path, "pass", "alone")
    write_job(
        tmp_path,
        """
        import pathlib, time
        met = pathlib.Path("met")
        met.mkdir(exist_ok=True)
        (met / job.run_id).touch()
        while len(list(met.iterdir())) < 2:
            time.sleep(0.02)
        """,
        "nightly",
    )
    for key in "ab":
        task_of(client, key=key)
        task_of(client, "alone", key=key)
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    lock = threading.Lock()

    def watch(expected: WorkerEvent, attempt: Any, ended: Any, given: str) -> None:
        with lock:
            change = {WorkerEvent.BEGUN: 1, WorkerEvent.ENDED: -1}[expected]
            for name in (attempt.name, "all"):
                running[name] += change
                most[name] = max(most[name], running[name])

    assert loop_of(client, slots=3, tell=watch).run() == {Ending.SUCCEEDED: 4}
    assert most["alone"] == 1
    assert most["nightly"] == 2
    assert most["all"] <= 3


def test_labels_choose_the_worker(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job(labels="gpu"))
    write_job(tmp_path, "pass", "nightly")
    task = task_of(client)
    assert work(client) == {}
    assert work(client, labels=frozenset({"cpu"})) == {}
    assert client.jobs.task(task).state is TaskState.QUEUED
    assert work(client, labels=frozenset({"cpu", "gpu"})) == {Ending.SUCCEEDED: 1}


SLOW = """
import pathlib, time
pathlib.Path("begun").touch()
time.sleep(600)
"""


def begun(folder: Path) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if (folder / "begun").exists():
            return
        pause.wait(0.02)
    raise AssertionError("it never began")


@on_each_state
def test_an_attempt_that_is_canceled_is_stopped(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job())
    write_job(tmp_path, SLOW, "nightly")
    task = task_of(client)
    loop = loop_of(client, heartbeat_seconds=0.1)
    found: list[Counter[Ending]] = []
    thread = threading.Thread(target=lambda: found.append(loop.run()))
    thread.start()
    begun(tmp_path)
    client.jobs.cancel(task, "not needed")
    thread.join(20)
    assert found == [{Ending.TAKEN: 1}]
    assert client.jobs.task(task).state is TaskState.CANCELED


def test_a_worker_that_is_stopped_twice_leaves_its_task_to_others(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job())
    write_job(tmp_path, SLOW, "nightly")
    task = task_of(client)
    loop = loop_of(client, drain=False, grace_seconds=600)
    found: list[Counter[Ending]] = []
    thread = threading.Thread(target=lambda: found.append(loop.run()))
    thread.start()
    begun(tmp_path)
    loop.stop()
    thread.join(0.3)
    assert thread.is_alive()
    loop.stop()
    thread.join(20)
    assert found == [{Ending.FAILED: 1}]
    row = client.jobs.task(task)
    assert why(row) == ("failed", "LG-5658")
    assert row.due_at is not None


class Away:
    """The dispatcher, which cannot be reached for a while."""

    def __init__(
        self, client: Client, times: int, kind: type[StateUnavailable] = StateUnavailable
    ) -> None:
        self.client, self.left, self.kind = client, times, kind

    def __getattr__(self, name: str) -> Any:
        if self.left > 0 and name in ("claim", "report", "report_and_claim", "keep"):
            self.left -= 1
            raise self.kind(place="somewhere", reason="no route")
        return getattr(self.client.dispatch, name)


on_each_absence = pytest.mark.parametrize("kind", [StateUnavailable, StateLoginRefused])
"""A State that was there is asked again, also where it lets nobody in."""


@on_each_absence
def test_a_worker_waits_for_a_state_that_is_away(
    kind: type[StateUnavailable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeguard.worker.backoff.BACKOFF", Backoff(first=0.02))
    client = job_project(tmp_path, python_job())
    write_job(tmp_path, "pass", "nightly")
    task_of(client)
    reported: list[WorkerEvent] = []
    loop = loop_of(client, tell=lambda what, *_: reported.append(what))
    away: Any = Away(client, 3, kind)
    loop.dispatch = away
    assert loop.run() == {Ending.SUCCEEDED: 1}
    assert reported == [WorkerEvent.AWAY, WorkerEvent.BACK, WorkerEvent.BEGUN, WorkerEvent.ENDED]


@on_each_absence
def test_what_was_done_while_nobody_listened_is_told_later(
    kind: type[StateUnavailable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeguard.worker.backoff.BACKOFF", Backoff(first=0.02))
    client = job_project(tmp_path, python_job())
    write_job(tmp_path, "pass", "nightly")
    task = task_of(client)
    away: Any = Away(client, 2, kind)
    loop = loop_of(replace(client, dispatch=away))
    loop.dispatch = client.dispatch
    assert loop.run() == {Ending.SUCCEEDED: 1}
    assert away.left == 0
    assert client.jobs.task(task).state is TaskState.COMPLETED


def test_a_machine_that_cannot_start_a_job_lets_another_try(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job())
    task = task_of(client)
    assert work(replace(client, project=str(tmp_path / "nowhere"))) == {Ending.FAILED: 1}
    row = client.jobs.task(task)
    assert why(row) == ("failed", "LG-0000")
    assert row.due_at is not None


def test_a_listener_that_is_gone_stops_no_work(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job())
    write_job(tmp_path, "pass", "nightly")
    task = task_of(client)
    errors, raised = list[Any](), threading.Event()

    def tell(expected: WorkerEvent, *_: Any) -> None:
        if expected is WorkerEvent.ENDED:
            raise BrokenPipeError

    def hook(found: threading.ExceptHookArgs) -> None:
        errors.append(found.exc_type)
        raised.set()

    before, threading.excepthook = threading.excepthook, hook
    try:
        assert loop_of(client, tell=tell).run() == {Ending.SUCCEEDED: 1}
        assert raised.wait(30), "the thread ends after its task"
    finally:
        threading.excepthook = before
    assert errors == [BrokenPipeError]
    assert client.jobs.task(task).state is TaskState.COMPLETED


@on_each_state
def test_leases_are_kept_in_one_call_and_a_lost_one_is_told(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job(concurrency="3"))
    tasks = [task_of(client, key=key) for key in "abc"]
    attempts = [Attempt(each) for each in client.dispatch.claim(this_process("tests"), limit=3)]
    assert {each.ticket.task_id for each in attempts} == set(tasks)
    client.jobs.cancel(attempts[1].ticket.task_id, "not needed")
    calls: list[Sequence[RunTicket]] = []

    class Counting:
        def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
            calls.append(tickets)
            return client.dispatch.keep(tickets)

    counting: Any = Counting()
    assert renew_leases(counting, attempts, 30.0) == 30.0
    assert len(calls) == 1
    assert [each.is_lost for each in attempts] == [False, True, False]
    gone: Any = Away(client, 1)
    assert renew_leases(gone, attempts, 30.0) == 1.0
    assert [each.is_lost for each in attempts] == [False, True, False]
