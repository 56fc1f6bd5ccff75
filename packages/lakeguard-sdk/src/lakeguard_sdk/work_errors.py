"""Errors of jobs that run outside of any build, and of the logs that they leave."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError, UsageError


class NoLog(UsageError):
    """Only jobs in Python leave a log, and only from their first attempt on."""

    code = "LG-1651"
    what = "task {task} has left no log: {reason}"
    next_command = "lakeguard tasks show {task}"


class JobFailed(EngineError):
    """What the job calls raised an error; the task's log has the whole of it."""

    code = "LG-5651"
    what = "{job} failed: {reason}"
    next_command = "lakeguard tasks log TASK, correct the job, lakeguard tasks retry TASK"


class JobAsksAgain(EngineError):
    """The job says of itself that a later attempt may succeed."""

    code = "LG-5652"
    retryable = True
    what = "{job} asks for another attempt: {reason}"
    next_command = "lakeguard tasks log TASK"


class JobUnusable(EngineError):
    """What the job is to call is not there, or cannot be called."""

    code = "LG-5653"
    what = "{job} could not be started: {reason}"
    next_command = "correct the job or its definition; then: lakeguard tasks retry TASK"


class JobCrashed(EngineError):
    """The job's process ended without saying how; most often its memory was too small."""

    code = "LG-5654"
    retryable = True
    what = "the process of {job} {ending}"
    next_command = "lakeguard tasks log TASK"


class JobTimedOut(EngineError):
    """The job's time was over; its process, and all that it had started, was ended."""

    code = "LG-5655"
    retryable = True
    what = "{job} did not end within {seconds} s"
    next_command = "give the job a longer timeout; then: lakeguard tasks retry TASK"


class CallRefused(EngineError):
    """The address that the job names does not take it."""

    code = "LG-5656"
    what = "{job} was not taken: {reason}"
    next_command = "correct the job or its definition; then: lakeguard tasks retry TASK"


class CallFailed(EngineError):
    """The address that the job names did not answer, or cannot take it now."""

    code = "LG-5657"
    retryable = True
    what = "{job} could not be handed over: {reason}"
    next_command = "lakeguard tasks show TASK"


class ReportOverdue(EngineError):
    """The address took the job and sent no report before the job's time was over."""

    code = "LG-5659"
    retryable = True
    what = "run {run} was handed over and did not report within the timeout of its job"
    next_command = "give the job a longer timeout; then: lakeguard tasks retry TASK"


class WorkerStopped(EngineError):
    """Whoever ran it was told to stop before it had ended; a worker goes on with the task."""

    code = "LG-5658"
    retryable = True
    what = "{job} was stopped while it was running"
    next_command = "lakeguard worker"
