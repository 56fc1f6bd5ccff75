"""The API of Python jobs.

    from lakeguard_sdk.scheduling.python_job import Job, Retry

    def export(job: Job) -> None:
        rows = fetch(job.date, job.secret("api_key"))
        if rows is None:
            raise Retry("the other side has not closed its books yet")
        job.output("report", location=str(write(rows)), rows=len(rows))

A job that returns has succeeded if it reported the outputs of its definition. One that raises has
failed; ``Retry`` requests another attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.scheduling.tasks import Output


class Retry(Exception):
    """Requests another attempt."""


class JobOrder(FrozenModel):
    """The input of a job's process."""

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
    """Unique to this attempt."""
    attempt: int
    parameters: Mapping[str, str]
    """The job's details and launch parameters; secrets as references."""
    outputs: dict[str, Output] = field(default_factory=dict)
    _secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def date(self) -> date | None:
        """The logical date, if there is one."""
        text = self.parameters.get("date")
        return None if text is None else date.fromisoformat(text)

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
        """Reports an output; recorded if the attempt succeeds."""
        self.outputs[name] = Output(location=location, rows=rows, bytes=bytes, notes=notes or {})

    def note(self, text: str) -> None:
        """Writes one line to the task's log."""
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
