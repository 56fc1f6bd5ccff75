"""Attempts of jobs for tests, as a dispatcher would give them, and modules for them to call."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from lakeguard.worker.attempt import Attempt
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.tasks import Assignment


def attempt_of(
    kind: TaskKind = TaskKind.PYTHON, *, secrets: dict[str, str] | None = None, **fields: Any
) -> Attempt:
    """The first attempt of a job that calls ``jobs:main``; its secrets are among its parameters."""
    named = secrets or {}
    ticket = RunTicket(
        run_id=new_id("run"), task_id=new_id("task"), attempt=1, lease_token=new_id("lease")
    )
    given = {
        "token": "issued",
        "call": "jobs:main",
        "timeout_seconds": 30,
        "lease_seconds": 120.0,
        **fields,
    }
    given["parameters"] = {**named, **fields.get("parameters", {})}
    return Attempt(Assignment(ticket=ticket, kind=kind, job="nightly", secrets=named, **given))


def write_job(project: Path, body: str, module: str = "jobs") -> None:
    """A module whose function ``main`` has this body."""
    project.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    imports = "from lakeguard_sdk.scheduling.python_job import Job, Retry"
    head = f"{imports}\n\n\ndef main(job: Job) -> None:\n"
    (project / f"{module}.py").write_text(head + lines)
