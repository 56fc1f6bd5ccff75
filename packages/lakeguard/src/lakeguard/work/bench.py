"""One attempt from its assignment to its end, whatever its kind."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from lakeguard.work.attempt import ENDINGS, Attempt, Ended, Ending
from lakeguard.work.http_call import call_out
from lakeguard.work.python_call import run_python
from lakeguard.work.reporting import hand_over, report_end
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.dispatch import TaskReport
from lakeguard_sdk.errors import Fenced, LakeGuardError, WorkerStopped
from lakeguard_sdk.run import Failure, failure_of
from lakeguard_sdk.words import TaskKind

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bench:
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
        return hand_over(self.client.dispatch, attempt)

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
