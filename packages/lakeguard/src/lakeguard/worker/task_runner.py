"""One attempt from its assignment to its end, whatever its kind."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lakeguard.worker import backoff
from lakeguard.worker.attempt import (
    ENDINGS,
    Attempt,
    Ended,
    Ending,
)
from lakeguard.worker.backoff import is_waited_out
from lakeguard.worker.http_job import call_out
from lakeguard.worker.python_job import run_python
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import Fenced, LakeGuardError, WorkerStopped
from lakeguard_sdk.model.run import Failure, failure_of
from lakeguard_sdk.scheduling.tasks import Dispatch, TaskReport
from lakeguard_sdk.storage.fault_points import reached

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskRunner:
    """Used by any number of threads. Builds share the one engine of ``builder``, which starts with
    the first of them; nothing else needs it."""

    client: Client
    builder: Worker

    def work(self, attempt: Attempt) -> Ended:
        """How the attempt ended; the dispatcher knows it too, unless others ended it first."""
        if attempt.assignment.kind is TaskKind.BUILD:
            return self._built(attempt)
        report = self._run(attempt)
        if report is not None:
            return report_end(self.client.dispatch, attempt, report)
        if attempt.is_lost:
            return Ended(Ending.TAKEN)
        return _hand_over(self.client.dispatch, attempt)

    def halt(self) -> None:
        """Builds under way end, and none begins any more."""
        self.builder.stop()

    def _run(self, attempt: Attempt) -> TaskReport | None:
        """None where the attempt was lost, or somebody outside goes on with it."""
        try:
            return self._called(attempt)
        except OSError as error:  # no room for its log, no process left
            said = f"{type(error).__name__}: {error.strerror or error}"
            failure = Failure(code=LakeGuardError.code, message=said, retryable=True)
        except Exception as error:  # noqa: BLE001 - without a report its lease would have to run out
            _log.error("an attempt of %s failed", attempt.name, exc_info=error)
            failure = Failure(code=LakeGuardError.code, message=type(error).__name__)
        return TaskReport(success=False, error=failure)

    def _called(self, attempt: Attempt) -> TaskReport | None:
        if attempt.assignment.kind is TaskKind.PYTHON:
            return run_python(attempt, lake=self.client.lake, project=self.client.project)
        return call_out(attempt)

    def _built(self, attempt: Attempt) -> Ended:
        """A build ends by its own steps: nothing is left to report."""
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


# Telling the dispatcher how an attempt ended, until it has heard.

LOOK_SECONDS = 0.2

Answer = TypeVar("Answer")


def report_end(dispatch: Dispatch, attempt: Attempt, report: TaskReport) -> Ended:
    """A success that is refused, for lack of an output, is a failure for that reason."""
    reached("job.reporting")
    try:
        answer = _heard(attempt, lambda: dispatch.report(attempt.ticket, report))
    except Fenced:
        return Ended(Ending.TAKEN)
    except LakeGuardError as refusal:
        if not report.success or is_waited_out(refusal):
            return Ended(Ending.TAKEN, failure_of(refusal))
        return report_end(dispatch, attempt, TaskReport.failed(refusal))
    reached("job.reported")
    return Ended(ENDINGS[answer.status], answer.error)


def _hand_over(dispatch: Dispatch, attempt: Attempt) -> Ended:
    """From now on whoever took the job reports on it."""
    try:
        _heard(attempt, lambda: dispatch.hand_over(attempt.ticket))
    except Fenced:
        return Ended(Ending.TAKEN)
    return Ended(Ending.HANDED_OVER)


def _heard(attempt: Attempt, ask: Callable[[], Answer]) -> Answer:
    """Asks until somebody answers: the State may be away for a while, and what was done is done.

    Once the attempt is lost, or its worker is to end, no longer.
    """
    for pause in backoff.BACKOFF.jittered():
        try:
            return ask()
        except LakeGuardError as error:
            if not is_waited_out(error) or attempt.is_lost or attempt.is_stopped:
                raise
        _rest(attempt, pause)
    raise AssertionError("pauses never end")


def _rest(attempt: Attempt, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (attempt.is_lost or attempt.is_stopped):
        time.sleep(min(LOOK_SECONDS, seconds))
