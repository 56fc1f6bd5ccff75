"""Runs one attempt of any kind and reports its result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from lakeguard.worker import backoff
from lakeguard.worker.attempt import (
    ENDINGS,
    Attempt,
    Ended,
    Ending,
)
from lakeguard.worker.backoff import is_retried
from lakeguard.worker.http_job import start_http_job
from lakeguard.worker.python_job import run_python
from lakeguard.worker.report_batches import ReportBatcher
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import Fenced, LakeGuardError, WorkerStopped
from lakeguard_sdk.model.run import Failure, RunTicket, failure_of
from lakeguard_sdk.scheduling.tasks import Dispatch, TaskAnswer, TaskReport
from lakeguard_sdk.storage.fault_points import reached

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskRunner:
    """Thread-safe. Builds share the engine of ``builder``, which is started by the first build."""

    client: Client
    builder: Worker

    @cached_property
    def reports(self) -> ReportBatcher:
        return ReportBatcher(self.client.dispatch)

    def work(self, attempt: Attempt) -> Ended:
        """Runs the attempt and reports its result, unless another process ended it first."""
        if attempt.assignment.kind is TaskKind.BUILD:
            return self._built(attempt)
        report = self._run(attempt)
        if report is not None:
            return report_end(self.reports, attempt, report)
        if attempt.is_lost:
            return Ended(Ending.TAKEN)
        return _hand_over(self.client.dispatch, attempt)

    def halt(self) -> None:
        """Interrupts running builds and prevents new ones."""
        self.builder.stop()

    def _run(self, attempt: Attempt) -> TaskReport | None:
        """None if the attempt was lost or handed over to a remote system."""
        try:
            return self._called(attempt)
        except OSError as error:  # disk full, or no process available
            message = f"{type(error).__name__}: {error.strerror or error}"
            failure = Failure(code=LakeGuardError.code, message=message, retryable=True)
        except Exception as error:  # noqa: BLE001 - else only its expired lease ends it
            _log.error("attempt of %s failed", attempt.name, exc_info=error)
            failure = Failure(code=LakeGuardError.code, message=type(error).__name__)
        return TaskReport(success=False, error=failure)

    def _called(self, attempt: Attempt) -> TaskReport | None:
        if attempt.assignment.kind is TaskKind.PYTHON:
            return run_python(attempt, lake=self.client.lake, project=self.client.project)
        return start_http_job(attempt)

    def _built(self, attempt: Attempt) -> Ended:
        """A build reports through its own steps."""
        try:
            result = self.builder.run_claimed(
                attempt.ticket, within=attempt.assignment.timeout_seconds
            )
        except Fenced:
            return Ended(Ending.TAKEN)
        except KeyboardInterrupt:
            return Ended(Ending.FAILED, failure_of(WorkerStopped(job=attempt.name)))
        if result.error is not None and result.error.code == Fenced.code:
            return Ended(Ending.TAKEN, result.error)
        return Ended(ENDINGS[result.status], result.error, result.version)


# Reports to the dispatcher, retried until delivered.

LOOK_SECONDS = 0.2
Answer = TypeVar("Answer")


class Reporting(Protocol):
    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer: ...


def report_end(dispatch: Reporting, attempt: Attempt, report: TaskReport) -> Ended:
    """A refused success, such as one with a missing output, is reported as a failure."""
    reached("job.reporting")
    try:
        answer = _heard(attempt, lambda: dispatch.report(attempt.ticket, report))
    except Fenced:
        return Ended(Ending.TAKEN)
    except LakeGuardError as refusal:
        if not report.success or is_retried(refusal):
            return Ended(Ending.TAKEN, failure_of(refusal))
        return report_end(dispatch, attempt, TaskReport.failed(refusal))
    reached("job.reported")
    return Ended(ENDINGS[answer.status], answer.error)


def _hand_over(dispatch: Dispatch, attempt: Attempt) -> Ended:
    """The remote system reports from now on."""
    try:
        _heard(attempt, lambda: dispatch.hand_over(attempt.ticket))
    except Fenced:
        return Ended(Ending.TAKEN)
    return Ended(Ending.HANDED_OVER)


def _heard(attempt: Attempt, ask: Callable[[], Answer]) -> Answer:
    """Retries while the State is unavailable, until the attempt is lost or its worker stops."""
    for pause in backoff.BACKOFF.jittered():
        try:
            return ask()
        except LakeGuardError as error:
            if not is_retried(error) or attempt.is_lost or attempt.is_stopped:
                raise
        _rest(attempt, pause)
    raise AssertionError("delays never end")


def _rest(attempt: Attempt, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (attempt.is_lost or attempt.is_stopped):
        time.sleep(min(LOOK_SECONDS, seconds))
