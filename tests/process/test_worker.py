"""``lakeguard worker`` and ``lakeguard tasks``: a day of an operator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from lakeguard.cli.session import stopping
from lakeguard_sdk import Client
from tests.support.projects.assignments import write_job
from tests.support.projects.shell import CommandResult, Shell
from tests.support.projects.worker_jobs import job_project, python_job, task_of

TELLING = """\
import json, sys
from lakeguard.cli.main import call
code = call(sys.argv[1:])
print(json.dumps({"spark": "pyspark" in sys.modules or "py4j" in sys.modules}))
sys.exit(code)
"""
"""A call that says at its end whether it needed Spark."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worker takes variables out of its environment: that of the test stays as it was."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def client(here: Path) -> Client:
    client = job_project(here, python_job())
    write_job(here, "print('one line')\nassert 'fail' not in job.parameters", "nightly")
    return client


def lines(given: CommandResult) -> list[dict[str, Any]]:
    return [json.loads(line) for line in given.out.splitlines()]


def test_a_task_from_its_queue_to_its_log(shell: Shell, client: Client) -> None:
    good = task_of(client, key="good")
    bad = task_of(client, key="bad", set_to={"fail": "yes"})
    listed = shell("tasks", "list", "--state", "queued", "--json").data["tasks"]
    assert {row["task_id"] for row in listed} == {good, bad}
    assert "no attempt has started" in shell("tasks", "log", good).err

    result = shell("worker", "--drain", "--poll", "0.05")
    assert (result.code, result.out) == (1, "")
    assert f"▶ nightly  python, attempt 1 of {good}" in result.err
    assert "✓ nightly  succeeded in" in result.err
    assert "! nightly  failed in" in result.err
    assert "LG-5651" in result.err

    assert shell("tasks", "log", good).out == "one line\n"
    data = shell("tasks", "log", bad, "--json").data
    assert data["log"].startswith("one line\nTraceback")
    assert bad in shell("tasks", "list", "--job", "nightly", "--state", "failed").out
    assert good not in shell("tasks", "list", "--state", "failed").out
    shown = shell("tasks", "show", bad).out
    assert "● failed" in shown
    assert f"Next: lakeguard tasks retry {bad}" in shown

    again = shell("tasks", "retry", bad, "--reason", "once more")
    assert again.out.split() == ["○", "queued", bad, "nightly"]
    canceled = shell("tasks", "cancel", bad, "--json").data["task"]
    assert canceled["state"] == "canceled"
    ways = shell("tasks", "show", bad, "--json").data["transitions"]
    assert [way["to_state"] for way in ways][-2:] == ["queued", "canceled"]


def test_a_worker_speaks_json_to_programs(shell: Shell, client: Client) -> None:
    task = task_of(client)
    result = shell("worker", "--drain", "--poll", "0.05", "--json")
    assert result.code == 0
    begun, ended = lines(result)
    assert (begun["event"], begun["task"], begun["kind"]) == ("begun", task, "python")
    assert (ended["event"], ended["ending"], ended["error"]) == ("ended", "succeeded", None)
    assert shell("worker", "--drain").code == 0


def test_what_a_worker_refuses_is_told_and_no_success(shell: Shell, client: Client) -> None:
    tasks = {task_of(client, key=key) for key in "abc"}
    client.jobs.switch("nightly", enabled=False)
    result = shell("worker", "--drain", "--poll", "0.05")
    assert (result.code, result.out) == (3, "")
    why = "LG-3321 job nightly was switched off since this was launched"
    output = result.err.splitlines()
    assert sorted(output) == sorted(f"✗ nightly  refused, {task}: {why}" for task in tasks)
    assert shell("worker", "--drain").code == 0

    client.jobs.switch("nightly", enabled=True)
    task = task_of(client, key="d")
    client.jobs.switch("nightly", enabled=False)
    result = shell("worker", "--drain", "--json")
    (refused,) = lines(result)
    assert (result.code, refused["event"], refused["error"]["code"]) == (3, "refused", "LG-3321")
    assert (refused["name"], refused["kind"], refused["task"]) == ("nightly", "python", task)


def test_a_failure_counts_for_more_than_a_refusal(shell: Shell, here: Path) -> None:
    client = job_project(here, python_job(), python_job("other"))
    write_job(here, "raise ValueError", "other")
    task_of(client)
    task_of(client, "other")
    client.jobs.switch("nightly", enabled=False)
    assert shell("worker", "--drain", "--poll", "0.05").code == 1


def test_a_task_of_a_job_that_is_off_names_the_switch(shell: Shell, client: Client) -> None:
    task = task_of(client)
    client.jobs.switch("nightly", enabled=False)
    shell("worker", "--drain")
    way = f"Next: lakeguard jobs enable nightly, then: lakeguard tasks retry {task}"
    assert shell("tasks", "show", task).out.splitlines()[-1] == way
    refused = shell("tasks", "retry", task)
    assert (refused.code, refused.err.splitlines()[-1]) == (2, way)
    assert "LG-1604" in refused.err
    assert shell("jobs", "enable", "nightly").code == 0
    assert shell("tasks", "show", task).out.endswith(f"\nNext: lakeguard tasks retry {task}\n")
    assert shell("tasks", "retry", task).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "given"),
    [
        (("worker", "--label", "Not A Word"), 2, "LG-1000"),
        (("worker", "--slots", "0"), 2, "LG-1000"),
        (("worker", "--poll", "nan"), 2, "LG-1000"),
        (("worker", "--grace", "nan"), 2, "LG-1000"),
        (("tasks", "show", "task_none"), 2, "LG-1601"),
        (("tasks", "log", "task_none"), 2, "LG-1601"),
        (("tasks", "list", "--state", "asleep"), 2, "LG-1000"),
        (("tasks", "retry", "task_none"), 2, "LG-1601"),
    ],
)
@pytest.mark.usefixtures("client")
def test_what_is_refused(shell: Shell, arguments: tuple[str, ...], code: int, given: str) -> None:
    answer = shell(*arguments)
    assert answer.code == code
    assert answer.err.startswith(given)


def test_signals_say_stop_and_mean_what_they_did_before_afterwards() -> None:
    stops = threading.Semaphore(0)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stopping(stops.release):
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
            assert stops.acquire(timeout=5)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_a_worker_of_its_own_needs_no_spark_and_lets_what_runs_end(here: Path) -> None:
    client = job_project(here, python_job())
    slow = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(1)"
    write_job(here, slow, "nightly")
    task = task_of(client, key="slow")
    task_of(client, key="next")
    command = [sys.executable, "-c", TELLING, "worker", "--json", "--poll", "0.1"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        first = json.loads(worker.stdout.readline())
        worker.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in worker.stdout]
        assert worker.wait(60) == 0
    assert (first["event"], first["task"]) == ("begun", task)
    assert [each["event"] for each in rest[:-1]] == ["stopping", "ended"]
    assert rest[-1] == {"spark": False}
    states = {row.dedupe_key: row.state.value for row in client.jobs.tasks()}
    assert sorted(states.values()) == ["completed", "queued"]
