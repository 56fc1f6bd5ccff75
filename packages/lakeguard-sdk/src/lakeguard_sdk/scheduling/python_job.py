"""What a job in Python is handed.

    from lakeguard_sdk.scheduling.python_job import Job, Retry

    def export(job: Job) -> None:
        rows = fetch(job.date, job.secret("api_key"))
        if rows is None:
            raise Retry("the other side has not closed its books yet")
        job.output("report", location=str(write(rows)), rows=len(rows))

A job that returns has succeeded, if it brought what its definition promises. One that raises has
failed; ``Retry`` asks for another attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.scheduling.tasks import Output


class Retry(Exception):
    """A later attempt may succeed where this one cannot."""


class JobOrder(FrozenModel):
    """All that the process of a job is told."""

    job: str
    task_id: str
    run_id: str
    attempt: int
    call: str
    project: str
    parameters: dict[str, str] = {}
    secrets: dict[str, str] = {}


@dataclass
class Job:
    """One attempt of a job."""

    job: str
    task_id: str
    run_id: str
    """The same for this attempt alone."""
    attempt: int
    parameters: Mapping[str, str]
    """Its details, and what the launch set; a secret is there as its reference."""
    outputs: dict[str, Output] = field(default_factory=dict)
    _secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def date(self) -> date | None:
        """The day that it is for, where it is for one."""
        said = self.parameters.get("date")
        return None if said is None else date.fromisoformat(said)

    def secret(self, name: str) -> str:
        """The value of a parameter that names a secret, ``env:NAME`` or ``file:PATH``."""
        return self._secrets[name]

    def output(
        self,
        name: str,
        *,
        location: str | None = None,
        rows: int | None = None,
        bytes: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Something that the attempt brought forth; told when it has succeeded."""
        self.outputs[name] = Output(location=location, rows=rows, bytes=bytes, notes=notes or {})

    def note(self, text: str) -> None:
        """One line of the task's log."""
        print(text, flush=True)  # noqa: T201 - what it prints is the log


def job_of(order: JobOrder) -> Job:
    return Job(
        job=order.job,
        task_id=order.task_id,
        run_id=order.run_id,
        attempt=order.attempt,
        parameters=order.parameters,
        _secrets=order.secrets,
    )
