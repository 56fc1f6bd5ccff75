"""Python jobs: one subprocess group per attempt."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from pydantic import ValidationError

from lakeguard.worker.attempt import Attempt
from lakeguard.worker.job_log import JobLog, log_place
from lakeguard_sdk.errors import (
    JobCrashed,
    JobTimedOut,
    LakeGuardError,
    ReportRefused,
    SecretMissing,
    WorkerStopped,
)
from lakeguard_sdk.model.run import Failure, failure_of
from lakeguard_sdk.scheduling.python_job import JobOrder
from lakeguard_sdk.scheduling.tasks import Assignment, TaskReport
from lakeguard_sdk.security.secret_references import resolve_all
from lakeguard_sdk.storage.fault_points import reached

COMMAND = (sys.executable, "-E", "-P", "-u", "-m", "lakeguard_sdk.scheduling.job_process")
"""Isolated: environment and working directory do not change what it imports."""
GRACE_SECONDS = 5.0
"""Time between SIGTERM and SIGKILL."""
LOOK_SECONDS = 0.1
FIRST_LOOK_SECONDS = 0.001
"""A process that has reported mostly ends at once."""
MOST_REPORTED = 1 << 20
LONGEST_MESSAGE = 1000


def run_python(attempt: Attempt, *, lake: str, project: str) -> TaskReport | None:
    """The result; None if the attempt was lost.

    On return, no process of the job's group is running.
    """
    order, failure = _order(attempt, project or lake)
    if order is None:
        return TaskReport(success=False, error=failure)
    log = JobLog(log_place(lake, attempt.ticket.run_id), order.secrets.values())
    try:
        report = _reported(attempt, order, log)
    finally:
        log.close()
    return None if attempt.is_lost else _cleaned(attempt, report, log)


def _reported(attempt: Attempt, order: JobOrder, log: JobLog) -> TaskReport:
    child = _Child.start(attempt, order, log)
    try:
        return child.report()
    finally:
        child.end()


def _order(attempt: Attempt, project: str) -> tuple[JobOrder | None, Failure | None]:
    """The order for the subprocess, with its secrets resolved."""
    assignment, ticket = attempt.assignment, attempt.ticket
    try:
        secrets = resolve_all(assignment.secrets)
    except SecretMissing as error:
        return None, failure_of(error)
    order = JobOrder(
        job=attempt.name,
        task_id=ticket.task_id,
        run_id=ticket.run_id,
        attempt=ticket.attempt,
        call=assignment.call,
        project=str(Path(project).resolve()),
        parameters=assignment.parameters,
        secrets=secrets,
    )
    return order, None


def _cleaned(attempt: Attempt, report: TaskReport, log: JobLog) -> TaskReport:
    """The report with secrets masked, and the end of the log added to crashes and timeouts. Outputs
    with secrets are refused, because a masked location would be wrong."""
    for name, output in report.outputs.items():
        if any(map(log.contains_secret, _texts([output.location, output.notes]))):
            reason = f"the output {name} holds a secret of the job"
            return TaskReport.failed(ReportRefused(run=attempt.ticket.run_id, reason=reason))
    error = report.error
    if error is None:
        return report
    message = log.cleaned(error.message)
    if error.code in (JobCrashed.code, JobTimedOut.code) and log.last_lines:
        message += f"; its log ends with: {' / '.join(log.last_lines)}"
    cleaned = error.model_copy(update={"message": message[:LONGEST_MESSAGE]})
    return report.model_copy(update={"error": cleaned})


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value, including keys and numbers."""
    match value:
        case dict():
            yield from _texts([*value, *value.values()])
        case list():
            for inner in value:
                yield from _texts(inner)
        case _:
            yield str(value)


@dataclass
class _Child:
    """The process of a job, leader of a group of its own."""

    attempt: Attempt
    process: subprocess.Popen[bytes]
    link: socket.socket
    reading: threading.Thread
    deadline: float

    @classmethod
    def start(cls, attempt: Attempt, order: JobOrder, log: JobLog) -> _Child:
        ours, theirs = socket.socketpair()
        with ExitStack() as undone, theirs:
            undone.callback(ours.close)
            process = subprocess.Popen(  # noqa: S603 - the same words for every job
                COMMAND,
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=job_environment(attempt.assignment, os.environ),
                cwd=order.project,
                start_new_session=True,
            )
            undone.pop_all()
        pipe = cast(IO[bytes], process.stdout)
        reading = threading.Thread(target=_capture, args=(pipe, log), daemon=True)
        reading.start()
        seconds = attempt.assignment.timeout_seconds
        child = cls(attempt, process, ours, reading, time.monotonic() + seconds)
        child._send(order)
        reached("job.started")
        return child

    def report(self) -> TaskReport:
        """Waits for the report, the end of the process, the timeout or a stop."""
        self.link.settimeout(LOOK_SECONDS)
        heard = b""
        while not heard.endswith(b"\n"):
            if self.attempt.is_lost or self.attempt.is_stopped:
                return TaskReport.failed(WorkerStopped(job=self.attempt.name))
            if time.monotonic() > self.deadline:
                seconds = self.attempt.assignment.timeout_seconds
                return TaskReport.failed(JobTimedOut(job=self.attempt.name, seconds=seconds))
            gone = self._is_gone()  # checked first, so that its last bytes are still read
            part = self._received()
            heard += part or b""
            if (part == b"" or (part is None and gone)) or len(heard) > MOST_REPORTED:
                return self._crashed()
        self._wait(GRACE_SECONDS)  # time for cleanup
        try:
            return TaskReport.from_json(heard)
        except (ValidationError, LakeGuardError):
            return self._crashed()

    def end(self) -> None:
        """Ends the process group: SIGTERM first, unless another worker may already run the task."""
        if not self.attempt.is_lost and not self._is_gone():
            self._signal(signal.SIGTERM)
            self._wait(GRACE_SECONDS)
        self._signal(signal.SIGKILL)
        self.process.wait()
        self.link.close()
        self.reading.join(GRACE_SECONDS)  # a process that left the group may hold the pipe open

    def _send(self, order: JobOrder) -> None:
        try:
            self.link.sendall(order.to_json().encode() + b"\n")
        except OSError:  # it has exited; the wait detects that
            return

    def _received(self) -> bytes | None:
        """None if nothing has arrived yet."""
        try:
            return self.link.recv(65536)
        except TimeoutError:
            return None
        except OSError:
            return b""

    def _crashed(self) -> TaskReport:
        self._wait(GRACE_SECONDS)
        self._signal(signal.SIGKILL)
        code = self.process.wait()
        ending = f"exited with code {code} without a report"
        if code < 0:
            ending = f"was killed by {signal.Signals(-code).name}"
        return TaskReport.failed(JobCrashed(job=self.attempt.name, ending=ending))

    def _is_gone(self) -> bool:
        """Does not reap the process, so that its pid cannot be reused before signals are sent."""
        if self.process.returncode is not None:
            return True
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, how) is not None

    def _wait(self, seconds: float) -> None:
        until, pause = time.monotonic() + seconds, FIRST_LOOK_SECONDS
        while not self._is_gone() and time.monotonic() < until and not self.attempt.is_lost:
            time.sleep(pause)
            pause = min(pause * 1.5, LOOK_SECONDS / 5)

    def _signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            os.killpg(self.process.pid, number)


def _capture(pipe: IO[bytes], log: JobLog) -> None:
    with pipe:
        while data := os.read(pipe.fileno(), 65536):
            log.take(data)


# Environment variables passed from the worker to a job.

PASSED = (
    "HOME", "JAVA_HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE",
    "TMPDIR", "TZ", "USER",
)  # fmt: skip
PASSED_PREFIX = "LC_"
OWN_PREFIX = "LAKEGUARD_JOB_"


def job_environment(assignment: Assignment, surroundings: Mapping[str, str]) -> dict[str, str]:
    """An allowlist of variables, and facts about the attempt; no secrets."""
    passed = {
        name: value
        for name, value in surroundings.items()
        if name in PASSED or name.startswith(PASSED_PREFIX)
    }
    ticket = assignment.ticket
    facts = {
        "NAME": str(assignment.job or ""),
        "TASK": ticket.task_id,
        "RUN": ticket.run_id,
        "ATTEMPT": str(ticket.attempt),
        "DATE": assignment.parameters.get("date", ""),
    }
    return passed | {OWN_PREFIX + name: value for name, value in facts.items() if value}
