"""``lakeguard jobs``: list jobs, switch them on or off, start one."""

from __future__ import annotations

from datetime import UTC, date, datetime

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.jobs import (
    ended_lines,
    job_lines,
    jobs_lines,
    launch_lines,
    no_jobs_lines,
    switch_lines,
)
from lakeguard.cli.session import (
    client_of,
    folder_of,
    hide_secrets_of,
    person,
    stopping,
    writing,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import warn
from lakeguard.cli.terminal.time_arguments import Day
from lakeguard.services.unapplied import unapplied
from lakeguard.worker import Ended, Ending
from lakeguard.worker.run_task_locally import run_task_locally
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import LaunchInvalid

_SHOWN_TASKS = 5
_EXIT_CODES = {
    Ending.SUCCEEDED: 0,
    Ending.HANDED_OVER: 0,
    Ending.FAILED: 1,
    Ending.TAKEN: 1,
    Ending.BLOCKED: 3,
}
_EARLIER_EXIT_CODES = {
    TaskState.COMPLETED: 0,
    TaskState.BLOCKED: 3,
    TaskState.RUNNING: 1,
    TaskState.FAILED: 1,
    TaskState.CANCELED: 1,
    TaskState.DEAD: 1,
}
"""Exit codes where the task was started before, so nothing runs here."""

_reason_option = click.option(
    "--reason", callback=written, default="", help="Reason, recorded with the change."
)


@click.group("jobs")
def jobs_command() -> None:
    """List jobs, switch one on or off, or start one."""


@jobs_command.command("list")
@shared_options
def listing(call: Call) -> None:
    """List jobs: triggers, whether each is on, next start, last result."""
    client = client_of(call)
    rows = client.jobs.jobs()
    if not rows:
        found = unapplied(client, folder_of(call))
        answer(call, {"jobs": [], "unapplied": found.to_data()}, no_jobs_lines(found))
        return
    data = {"jobs": [row.to_data() for row in rows]}
    answer(call, data, jobs_lines(rows, datetime.now(UTC)))


@jobs_command.command("show")
@click.argument("job")
@shared_options
def show(call: Call, job: str) -> None:
    """Show JOB: its settings including defaults, and its last tasks."""
    jobs = client_of(call).jobs
    row, tasks = jobs.job(job), jobs.tasks(job=job, limit=_SHOWN_TASKS)
    data = {"job": row.to_data(), "tasks": [task.to_data() for task in tasks]}
    answer(call, data, job_lines(row, tasks, datetime.now(UTC)))


@jobs_command.command("enable")
@click.argument("job")
@_reason_option
@shared_options
def enable(call: Call, job: str, reason: str) -> None:
    """Switch JOB on; its definition must be active, too."""
    with writing(call) as client:
        row = client.jobs.switch(job, enabled=True, reason=reason)
    answer(call, {"job": row.to_data()}, switch_lines(row))


@jobs_command.command("disable")
@click.argument("job")
@_reason_option
@shared_options
def disable(call: Call, job: str, reason: str) -> None:
    """Switch JOB off: every start is refused until it is enabled."""
    with writing(call) as client:
        row = client.jobs.switch(job, enabled=False, reason=reason)
    answer(call, {"job": row.to_data()}, switch_lines(row))


@jobs_command.command("trigger")
@click.argument("job")
@click.option(
    "--date",
    "day",
    metavar="DAY",
    type=Day(),
    help="Logical day of the run, such as 2026-01-31.",
)
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="A parameter of the job."
)
@click.option("--key", help="Idempotency key: one task per key.")
@click.option("--here", is_flag=True, help="Run it in this process.")
@shared_options
def trigger(
    call: Call,
    job: str,
    day: date | None,
    assignments: tuple[str, ...],
    key: str | None,
    here: bool,
) -> int:
    """Start JOB manually: a worker runs its task, or this process with --here.

    The same key, or without a key the same --date and parameters, starts it once; without either,
    each call starts it again. A key that was used with another day or other parameters is refused.
    Exit 3 if the start is refused. With --here, also for a task started before: exit 1 if it
    failed, was canceled or runs elsewhere, 3 if it was blocked.
    """
    values = _values(job, assignments)
    with writing(call) as client:
        launched = client.jobs.trigger(job, person(), day=day, set_to=values, key=key, here=here)
        if not here or launched.state is not TaskState.QUEUED:
            answer(call, {"launch": launched.to_data()}, launch_lines(launched))
            if here:
                return _EARLIER_EXIT_CODES[launched.state]
            return 3 if launched.state is TaskState.BLOCKED else 0
        ended = _run_here(call, client, launched.task_id)
        task = client.jobs.task(launched.task_id)
    data = {"launch": launched.to_data(), "task": task.to_data()}
    answer(call, data, ended_lines(task, ended))
    return _EXIT_CODES[ended.ending]


def _run_here(call: Call, client: Client, task_id: str) -> Ended:
    hide_secrets_of(call)
    return run_task_locally(client, task_id, progress=warn, on_stop=stopping)


def _values(job: str, assignments: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in assignments:
        name, mark, value = text.partition("=")
        if not mark or name in values:
            problem = f"{name[:80]} is set twice" if mark else "write --set NAME=VALUE"
            raise LaunchInvalid(job=job, problem=problem)
        values[name] = value
    return values
