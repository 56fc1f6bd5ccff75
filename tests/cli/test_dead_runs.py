"""Runs whose process died: shown as dead by commands that read, ended by commands that write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.model.run import RunPlan, WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell


def ended_process() -> WorkerIdentity:
    """The identity of a process of this machine that has ended."""
    ask = (
        "from lakeguard_sdk.scheduling.process_identity import this_process;"
        "print(this_process('dead').to_json())"
    )
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, check=True, text=True)
    return WorkerIdentity.from_json(said.stdout.strip())


@pytest.fixture(scope="module")
def gone() -> WorkerIdentity:
    return ended_process()


def opened(client: Client, worker: WorkerIdentity) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), worker)
    assert isinstance(plan, RunPlan)
    return plan


@pytest.mark.parametrize("command", [("status",), ("runs",), ("why", NUMBERS), ("show", NUMBERS)])
def test_commands_that_read_show_a_dead_run(
    tmp_path: Path, shell: Shell, gone: WorkerIdentity, command: tuple[str, ...]
) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    plan = opened(client, gone)
    for _ in range(2):
        shown = shell(*command, "--project", tmp_path)
        assert shown.code == 0
        assert "† DEAD" in shown.out
        assert plan.ticket.run_id in shown.out
        assert f"its process {gone.pid} on {gone.host} is gone" in shown.out
        assert f"lakeguard run {NUMBERS}" in shown.out
    assert client.jobs.task(plan.ticket.task_id).state is TaskState.RUNNING, "reading ends nothing"


def test_tasks_show_a_dead_run_and_a_writing_command_ends_it(
    tmp_path: Path, shell: Shell, gone: WorkerIdentity
) -> None:
    client = numbers_project(tmp_path)
    ticket = opened(client, gone).ticket
    listed = shell("tasks", "list", "--project", tmp_path).out
    assert "✗ dead" in listed
    assert f"its process {gone.pid} on" in listed
    assert "✗ dead" in shell("tasks", "show", ticket.run_id, "--project", tmp_path).out
    assert "† DEAD" in shell("why", ticket.run_id, "--project", tmp_path).out
    ended = shell("waivers", "--revoke", "nothing", "--reason", "x", "--project", tmp_path)
    assert f"task {ticket.task_id} of {NUMBERS} was abandoned" in ended.err
    assert "† DEAD" not in shell("status", "--project", tmp_path).out


def test_a_living_run_is_shown_as_running(tmp_path: Path, shell: Shell) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    plan = opened(client, this_process("test"))
    assert "▶ RUNNING" in shell("runs", NUMBERS, "--project", tmp_path).out
    status = shell("status", "--project", tmp_path).out
    assert "✓ OK" in status
    assert "running" in status
    why = shell("why", NUMBERS, "--project", tmp_path)
    assert why.out.startswith(f"▶ RUNNING  {NUMBERS}   {plan.ticket.run_id}")
    data = shell("runs", "--json", "--project", tmp_path).data
    assert [row["run_id"] for row in data["open_runs"]] == [plan.ticket.run_id]
    data = shell("runs", "--limit", "1", "--json", "--project", tmp_path).data
    assert (len(data["runs"]), len(data["open_runs"])) == (0, 1)
    data = shell("runs", "--limit", "2", "--json", "--project", tmp_path).data
    assert (len(data["runs"]), len(data["open_runs"])) == (1, 1)


def test_a_task_of_a_killed_submitter_is_not_claimed_and_ended_by_the_next_command(
    tmp_path: Path, shell: Shell
) -> None:
    client = numbers_project(tmp_path)
    submit = (
        "from pathlib import Path; import sys, os;"
        "from lakeguard_sdk.client import connect;"
        "from lakeguard_sdk.core.dataset_name import DatasetName;"
        "print(connect(Path(sys.argv[1])).operations.submit(DatasetName(sys.argv[2]), 'killed'));"
        "sys.stdout.flush(); os._exit(9)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", submit, str(tmp_path), NUMBERS],
        capture_output=True,
        check=False,
        text=True,
    )
    task_id = killed.stdout.strip()
    assert client.jobs.task(task_id).state is TaskState.QUEUED, killed.stderr
    assert "† DEAD" in shell("status", "--project", tmp_path).out
    said = shell("waivers", "--revoke", "nothing", "--reason", "x", "--project", tmp_path).err
    assert f"task {task_id} of {NUMBERS}, submitted by" in said
    assert "never started: its process" in said
    task = client.jobs.task(task_id)
    assert (task.state, task.last and task.last.code) == (TaskState.CANCELED, "LG-3302")
