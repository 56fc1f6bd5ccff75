"""Jobs and their graph, tasks, reports, triggers and workers."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, Refused, UsageError


class UnknownTask(UsageError):
    """List the tasks that exist."""

    code = "LG-1601"
    what = "task {task} does not exist"
    next_command = "lakeguard tasks list"


class NotRetryable(UsageError):
    """Only failed, blocked or canceled tasks can be retried."""

    code = "LG-1602"
    what = "task {task} cannot be retried: {reason}"
    next_command = "lakeguard tasks list"


class NotCancelable(UsageError):
    """Only queued or running tasks can be canceled."""

    code = "LG-1603"
    what = "task {task} cannot be canceled: it is {state}"
    next_command = "lakeguard tasks list"


class JobStillDisabled(NotRetryable):
    """The task is refused because its job is disabled."""

    code = "LG-1604"
    next_command = "lakeguard jobs enable {job}, then: lakeguard tasks retry {task}"


class ReportRefused(UsageError):
    """Correct the report and send it again: the attempt is still open."""

    code = "LG-1611"
    what = "report on {run} refused: {reason}"
    next_command = "send it again with the outputs of the job: lakeguard jobs show JOB"


class NotReported(UsageError):
    """A build ends when its version is published or blocked, not by a report."""

    code = "LG-1612"
    what = "{run} is of kind {kind}, which does not end by a report"
    next_command = "lakeguard tasks list"


class BadListenAddress(UsageError):
    """Write ``127.0.0.1:8600``, or ``0.0.0.0:8600`` to accept other machines."""

    code = "LG-1613"
    what = "invalid listen address {place!r}: write HOST:PORT"
    next_command = "repeat the command with --listen 127.0.0.1:8600"


class ListenAddressInUse(UsageError):
    """Another program uses the port, or the address does not belong to this machine; port 0 picks a
    free one."""

    code = "LG-1614"
    what = "cannot listen at {place}: {reason}"
    next_command = "repeat the command with another port, such as --listen 127.0.0.1:0"


class NotHandedOver(UsageError):
    """Only attempts of http jobs can be handed over to an external system."""

    code = "LG-1615"
    what = "{run} is of kind {kind}; only http jobs are handed over"
    next_command = "lakeguard tasks list"


class UnknownJob(UsageError):
    """Name a registered job."""

    code = "LG-1621"
    what = "unknown job {job}{hint}"
    next_command = "lakeguard jobs list"

    def __init__(self, *, job: str, hint: str = "") -> None:
        super().__init__(job=job, hint=hint)


class UnknownGraph(UsageError):
    """Name a graph version by its id, or by a unique prefix of its hash."""

    code = "LG-1622"
    what = "unknown graph version {version}{hint}"
    next_command = "lakeguard deploy --list"

    def __init__(self, *, version: str, hint: str = "") -> None:
        super().__init__(version=version, hint=hint)


class LaunchInvalid(UsageError):
    """Correct the parameters of the launch."""

    code = "LG-1623"
    what = "cannot start job {job}: {problem}"
    next_command = "lakeguard jobs show {job}"


class NothingToDeploy(UsageError):
    """Apply definitions first: the graph consists of the registered datasets and jobs."""

    code = "LG-1624"
    what = "nothing to deploy: no dataset or job is registered"
    next_command = "lakeguard apply, then: lakeguard deploy"


class InvalidEvent(UsageError):
    """Send one CloudEvents 1.0 or EventBridge event, as a JSON object."""

    code = "LG-1641"
    what = "invalid event: {reason}"
    next_command = "lakeguard jobs list, which shows the expected events"


class SecretInEvent(UsageError):
    """Send the event without the secret: events are stored, and readers can see them."""

    code = "LG-1642"
    what = "the event contains what looks like a secret; nothing was stored"
    next_command = "send the event without the secret"


class NoLog(UsageError):
    """Only Python jobs write a log, starting with their first attempt."""

    code = "LG-1651"
    what = "task {task} has no log: {reason}"
    next_command = "lakeguard tasks show {task}"


class TaskCanceled(Refused):
    """The task was canceled; the result of its running attempt is discarded."""

    code = "LG-3301"
    what = "task {task} was canceled: {reason}"
    next_command = "lakeguard tasks retry {task}"


class NeverStarted(Refused):
    """The process that submitted the task ended before it began the run; nothing was built."""

    code = "LG-3302"
    what = "task {task} never started: {reason}"
    next_command = "lakeguard tasks retry {task}"


class BadToken(Refused):
    """Send the token exactly as received; request a new one if it has expired or was revoked."""

    code = "LG-3311"
    exit_code = 1
    what = "invalid token"
    next_command = (
        "send the token as received, in LAKEGUARD_TOKEN or as Authorization: Bearer TOKEN; "
        "ask for another if it was revoked or is over"
    )


class ReportConflict(Refused):
    """An attempt ends once: its first report counts."""

    code = "LG-3312"
    what = "{run} already has a different report; the first report counts"
    next_command = "lakeguard tasks list"


class OutputExists(Refused):
    """A job writes each output once per key."""

    code = "LG-3313"
    what = "output {output} already exists for key {key!r}, written by {run}"
    next_command = "start the job under another key: lakeguard jobs trigger JOB --key KEY"


class LaunchRefused(Refused):
    """A launch gate refused the task; the refusal is recorded with it."""

    code = "LG-3320"
    what = "{problem}"
    next_command = "lakeguard jobs list"

    def __init__(self, *, problem: str) -> None:
        super().__init__(problem=problem)


class JobDisabled(LaunchRefused):
    """The job is disabled, by an operator or by its definition."""

    code = "LG-3321"
    next_command = "lakeguard jobs enable JOB, or active: true in its definition"


class PartDisabled(LaunchRefused):
    """The job's dataset, source, target or mapping is disabled."""

    code = "LG-3322"
    next_command = "set active: true in the named definition, then: lakeguard apply"


class NotDeployed(LaunchRefused):
    """The active graph does not contain the current definition of the job."""

    code = "LG-3323"
    next_command = "lakeguard deploy"


class ParentFailed(LaunchRefused):
    """The last run of a parent failed or was blocked: fix that one first."""

    code = "LG-3324"
    next_command = "lakeguard why RUN, then: lakeguard run PARENT"


class InputMissing(LaunchRefused):
    """A parent has no published version to read."""

    code = "LG-3325"
    next_command = "lakeguard run PARENT"


class SchemaPending(LaunchRefused):
    """A breaking schema change waits for approval, or must be reverted."""

    code = "LG-3326"
    next_command = "lakeguard schema diff DATASET"


class Frozen(LaunchRefused):
    """A change freeze policy is in effect."""

    code = "LG-3327"
    next_command = "lakeguard tasks retry TASK, once the freeze is over"


class ParentLate(LaunchRefused):
    """A parent violates a blocking SLA policy."""

    code = "LG-3328"
    next_command = "lakeguard run PARENT"


class Overlapping(LaunchRefused):
    """The job is still running, and its settings forbid overlapping runs."""

    code = "LG-3329"
    next_command = "lakeguard tasks list --job JOB"


class NotRunnable(LaunchRefused):
    """No worker can run this type of job."""

    code = "LG-3330"
    next_command = "lakeguard jobs show JOB"


class GraphRolledBack(Refused):
    """The graph was rolled back to an earlier version: tasks of newer versions are canceled."""

    code = "LG-3331"
    what = "the graph was rolled back to {version}, and this task belongs to a newer version"
    next_command = "lakeguard deploy --list"


class KeyAlreadyUsed(Refused):
    """Each key starts a job once: use another key for another start."""

    code = "LG-3332"
    what = "job {job} was already started with key {key} as {task}, differently: {difference}"
    next_command = "lakeguard tasks show {task}, or use another --key"


class NotDeployable(Refused):
    """A job that can never start would only look deployed: correct it, or set ``active: false``."""

    code = "LG-3333"
    what = "nothing was deployed: {problem}"
    next_command = "lakeguard jobs list"


class EventConflict(Refused):
    """Give a different event its own id: received events are immutable."""

    code = "LG-3341"
    what = "event {event} of {source} was already received with other content"
    next_command = "send it with a new id"


class JobFailed(EngineError):
    """The job's function raised an error; the task's log has the traceback."""

    code = "LG-5651"
    what = "{job} failed: {reason}"
    next_command = "lakeguard tasks log TASK, correct the job, lakeguard tasks retry TASK"


class JobRequestedRetry(EngineError):
    """The job requested a retry."""

    code = "LG-5652"
    retryable = True
    what = "{job} requested a retry: {reason}"
    next_command = "lakeguard tasks log TASK"


class JobUnusable(EngineError):
    """The job's function does not exist or cannot be called."""

    code = "LG-5653"
    what = "{job} could not be started: {reason}"
    next_command = "correct the job or its definition; then: lakeguard tasks retry TASK"


class JobCrashed(EngineError):
    """The job's process exited without a report, most often because it ran out of memory."""

    code = "LG-5654"
    retryable = True
    what = "the process of {job} {ending}"
    next_command = "lakeguard tasks log TASK"


class JobTimedOut(EngineError):
    """The job exceeded its timeout; its process group was killed."""

    code = "LG-5655"
    retryable = True
    what = "{job} timed out after {seconds} s"
    next_command = "increase the job's timeout; then: lakeguard tasks retry TASK"


class CallRefused(EngineError):
    """The job's URL rejected the request."""

    code = "LG-5656"
    what = "{job} was rejected: {reason}"
    next_command = "correct the job or its definition; then: lakeguard tasks retry TASK"


class CallFailed(EngineError):
    """The job's URL did not respond, or cannot accept the request now."""

    code = "LG-5657"
    retryable = True
    what = "{job} could not be handed over: {reason}"
    next_command = "lakeguard tasks show TASK"


class WorkerStopped(EngineError):
    """The worker was stopped before the job ended; another worker retries the task."""

    code = "LG-5658"
    retryable = True
    what = "{job} was stopped while it was running"
    next_command = "lakeguard worker"


class ReportOverdue(EngineError):
    """The external system accepted the job but sent no report before its timeout."""

    code = "LG-5659"
    retryable = True
    what = "run {run} was handed over and did not report within the job's timeout"
    next_command = "increase the job's timeout; then: lakeguard tasks retry TASK"
