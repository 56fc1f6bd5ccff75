"""``lakeguard tasks``: list, show, retry and cancel tasks; show logs."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.jobs import way_to_start
from lakeguard.cli.rendering.tasks import (
    name_of,
    state_mark,
    task_lines,
    tasks_lines,
)
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.layout import strong
from lakeguard.cli.terminal.output import answer
from lakeguard.services.plain_text import escaped_lines
from lakeguard.worker.job_log import log_place
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import JobDisabled, NoLog, NotDeployed
from lakeguard_sdk.scheduling.tasks import Jobs, TaskRow
from lakeguard_sdk.storage.storage import storage_for

STATES = [state.value for state in TaskState]
_OF_THE_JOB = (JobDisabled.code, NotDeployed.code)
"""Refusals that are fixed at the job."""
_reason_option = click.option(
    "--reason", callback=written, default="", help="Reason, recorded with the change."
)


@click.group("tasks")
def tasks_command() -> None:
    """List tasks, their attempts and logs; retry or cancel one."""


@tasks_command.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only tasks in this state.")
@click.option("--job", metavar="JOB", help="Only tasks of this job.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), help="Maximum number."
)
@shared_options
def listing(call: Call, state: str | None, job: str | None, limit: int) -> None:
    """List tasks, newest first: state, attempts, lease, worker, last reason."""
    chosen = None if state is None else TaskState(state)
    rows = client_of(call).jobs.tasks(state=chosen, job=job, limit=limit)
    data = {"tasks": [row.to_data() for row in rows]}
    answer(call, data, tasks_lines(rows, datetime.now(UTC)))


@tasks_command.command("show")
@click.argument("task")
@shared_options
def show(call: Call, task: str) -> None:
    """Show TASK: why it was started, its parameters, and its state transitions.

    TASK is a task id, or the id of one of its runs.
    """
    jobs = client_of(call).jobs
    row, transitions = jobs.task(task), jobs.transitions(task)
    data = {"task": row.to_data(), "transitions": [each.to_data() for each in transitions]}
    answer(call, data, task_lines(row, transitions, datetime.now(UTC), _first(jobs, row)))


@tasks_command.command("retry")
@click.argument("task")
@_reason_option
@shared_options
def retry(call: Call, task: str, reason: str) -> None:
    """Queue TASK for one more attempt, whatever its last result."""
    with writing(call) as client:
        _print_task(call, client.jobs.retry(task, reason))


@tasks_command.command("cancel")
@click.argument("task")
@_reason_option
@shared_options
def cancel(call: Call, task: str, reason: str) -> None:
    """Cancel TASK; a running attempt is ended and its work is discarded.

    A version that it has already published stays.
    """
    with writing(call) as client:
        _print_task(call, client.jobs.cancel(task, reason))


@tasks_command.command("log")
@click.argument("task")
@shared_options
def log(call: Call, task: str) -> None:
    """Show the output of the last attempt of TASK, a Python job."""
    client = client_of(call)
    row = client.jobs.task(task)
    text = _log_of(client, row)
    data: dict[str, object] = {"task": row.task_id, "run": row.run_id, "log": text}
    answer(call, data, escaped_lines(text.removesuffix("\n")))


def _first(jobs: Jobs, row: TaskRow) -> str:
    """The command its job needs before a retry can succeed."""
    if row.state is not TaskState.BLOCKED or row.job is None or row.last is None:
        return ""
    return way_to_start(jobs.job(row.job)) if row.last.code in _OF_THE_JOB else ""


def _print_task(call: Call, row: TaskRow) -> None:
    line = f"{state_mark(row.state)}  {strong(row.task_id)}  {name_of(row)}"
    answer(call, {"task": row.to_data()}, [line])


def _log_of(client: Client, row: TaskRow) -> str:
    if row.kind is not TaskKind.PYTHON:
        raise NoLog(task=row.task_id, reason=f"it is a {row.kind} task, not a Python job")
    if row.run_id is None:
        raise NoLog(task=row.task_id, reason="no attempt has started")
    try:
        place = log_place(client.lake, row.run_id)
        return storage_for(place).read_bytes(place).decode("utf-8", "replace")
    except OSError as error:
        raise NoLog(task=row.task_id, reason=error.strerror or str(error)) from None
