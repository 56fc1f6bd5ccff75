"""Jobs and their graph, tasks, reports, triggers and workers."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, Refused, UsageError


class UnknownTask(UsageError):
    """Ask for the tasks that exist."""

    code = "LG-1601"
    what = "there is no task {task}"
    next_command = "lakeguard tasks list"


class NotRetryable(UsageError):
    """Only what failed, was blocked or was canceled is tried again."""

    code = "LG-1602"
    what = "task {task} cannot be tried again: {reason}"
    next_command = "lakeguard tasks list"


class NotCancelable(UsageError):
    """Only what waits or runs can be canceled."""

    code = "LG-1603"
    what = "task {task} cannot be canceled: it is {state}"
    next_command = "lakeguard tasks list"


class JobStillOff(NotRetryable):
    """The task was, or would be, refused because its job is switched off."""

    code = "LG-1604"
    next_command = "lakeguard jobs enable {job}, then: lakeguard tasks retry {task}"


class ReportRefused(UsageError):
    """Correct the report and send it again: the attempt is still open."""

    code = "LG-1611"
    what = "the report on {run} was not taken: {reason}"
    next_command = "send it again with what the job promises: lakeguard jobs show JOB"


class NotReported(UsageError):
    """A build ends when its version is published or refused, not by a report."""

    code = "LG-1612"
    what = "{run} is of kind {kind}, which ends by its own steps and not by a report"
    next_command = "lakeguard tasks list"


class BadPlace(UsageError):
    """Write ``127.0.0.1:8600``, or ``0.0.0.0:8600`` where other machines are to reach it."""

    code = "LG-1613"
    what = "{place!r} is no place to listen at: write HOST:PORT"
    next_command = "lakeguard dispatcher --listen 127.0.0.1:8600"


class PlaceTaken(UsageError):
    """Another program listens there, or the address is none of this machine's."""

    code = "LG-1614"
    what = "nobody can listen at {place}: {reason}"
    next_command = "lakeguard dispatcher --listen 127.0.0.1:8600, with another port"


class NotHandedOver(UsageError):
    """What runs here ends here; only an attempt that called an address outside goes on there."""

    code = "LG-1615"
    what = "{run} is of kind {kind}, and only a job of type http goes on outside"
    next_command = "lakeguard tasks list"


class UnknownJob(UsageError):
    """Name a job that is registered."""

    code = "LG-1621"
    what = "there is no job {job}{hint}"
    next_command = "lakeguard jobs list"

    def __init__(self, *, job: str, hint: str = "") -> None:
        super().__init__(job=job, hint=hint)


class UnknownGraph(UsageError):
    """Name a version of the graph by its id, or by enough of its hash to know it."""

    code = "LG-1622"
    what = "no version of the graph is {version}{hint}"
    next_command = "lakeguard deploy --list"

    def __init__(self, *, version: str, hint: str = "") -> None:
        super().__init__(version=version, hint=hint)


class LaunchInvalid(UsageError):
    """Correct what the launch sets."""

    code = "LG-1623"
    what = "job {job} cannot be started so: {problem}"
    next_command = "lakeguard jobs show {job}"


class NothingToDeploy(UsageError):
    """Apply definitions first: the graph is made of the datasets and jobs that are registered."""

    code = "LG-1624"
    what = "there is nothing to deploy: no dataset and no job is applied"
    next_command = "lakeguard apply, then: lakeguard deploy"


class NoEvent(UsageError):
    """Send one event of CloudEvents 1.0 or of EventBridge, as an object of JSON."""

    code = "LG-1641"
    what = "this is no event: {reason}"
    next_command = "lakeguard jobs list, which says what is waited for"


class SecretEvent(UsageError):
    """Send the event without the secret: events are kept, and shown to whoever may read them."""

    code = "LG-1642"
    what = "the event holds what looks like a secret; nothing of it was kept"
    next_command = "send the event without it"


class NoLog(UsageError):
    """Only jobs in Python leave a log, and only from their first attempt on."""

    code = "LG-1651"
    what = "task {task} has left no log: {reason}"
    next_command = "lakeguard tasks show {task}"


class TaskCanceled(Refused):
    """Somebody withdrew the task; what its attempt still does comes to nothing."""

    code = "LG-3301"
    what = "task {task} was canceled: {reason}"
    next_command = "lakeguard tasks retry {task}"


class BadToken(Refused):
    """Send the token exactly as it came with the task."""

    code = "LG-3311"
    what = "this is no task token"
    next_command = "send the token that came with the task: Authorization: Bearer TOKEN"


class ReportedOtherwise(Refused):
    """An attempt ends once: its first report counts."""

    code = "LG-3312"
    what = "{run} was reported before, and otherwise; the first report counts"
    next_command = "lakeguard tasks list"


class OutputThere(Refused):
    """An output is there once for each key of its job."""

    code = "LG-3313"
    what = "the output {output} is there already for the key {key!r}, brought by {run}"
    next_command = "start the job under another key: lakeguard jobs trigger JOB --key KEY"


class LaunchRefused(Refused):
    """A gate said no before the launch; the refusal is recorded with the task."""

    code = "LG-3320"
    what = "{problem}"
    next_command = "lakeguard jobs list"

    def __init__(self, *, problem: str) -> None:
        super().__init__(problem=problem)


class JobOff(LaunchRefused):
    """The job is switched off, by an operator or by its definition."""

    code = "LG-3321"
    next_command = "lakeguard jobs enable JOB, or active: true in its definition"


class PartOff(LaunchRefused):
    """What the job builds with is disabled: its dataset, source, target or the mapping."""

    code = "LG-3322"
    next_command = "set active: true in the definition named, then: lakeguard apply"


class NotDeployed(LaunchRefused):
    """The active graph does not know the job as it is defined now."""

    code = "LG-3323"
    next_command = "lakeguard deploy"


class ParentFailed(LaunchRefused):
    """The last run of a parent failed or was blocked: see to that one first."""

    code = "LG-3324"
    next_command = "lakeguard why RUN, then: lakeguard run PARENT"


class InputMissing(LaunchRefused):
    """A parent has no published version to read."""

    code = "LG-3325"
    next_command = "lakeguard run PARENT"


class SchemaPending(LaunchRefused):
    """A breaking change of a schema waits for somebody to approve it, or to undo it."""

    code = "LG-3326"
    next_command = "lakeguard schema diff DATASET"


class Frozen(LaunchRefused):
    """A policy forbids changes at this time."""

    code = "LG-3327"
    next_command = "lakeguard tasks retry TASK, once the freeze is over"


class ParentLate(LaunchRefused):
    """A parent breaks a promise about time that blocks."""

    code = "LG-3328"
    next_command = "lakeguard run PARENT"


class Overlapping(LaunchRefused):
    """The job is still under way, and its settings say not to start it beside itself."""

    code = "LG-3329"
    next_command = "lakeguard tasks list --job JOB"


class NotRunnable(LaunchRefused):
    """Nothing here runs the job as it is defined."""

    code = "LG-3330"
    next_command = "lakeguard jobs show JOB"


class GraphLeft(Refused):
    """The graph went back to an earlier version: work of newer ones is withdrawn."""

    code = "LG-3331"
    what = "the graph went back to {version}, and this is work of a newer version"
    next_command = "lakeguard deploy --list"


class KeySpent(Refused):
    """One key is one start: the first stays as it was, and another needs another key."""

    code = "LG-3332"
    what = "job {job} was started by {key} as {task}, and otherwise: {difference}"
    next_command = "lakeguard tasks show {task}, or start it with another --key"


class EventDiffers(Refused):
    """Give another event another id: one that came before stays as it was."""

    code = "LG-3341"
    what = "event {event} of {source} came before with other content"
    next_command = "send it under an id of its own"


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


class WorkerStopped(EngineError):
    """Whoever ran it was told to stop before it had ended; a worker goes on with the task."""

    code = "LG-5658"
    retryable = True
    what = "{job} was stopped while it was running"
    next_command = "lakeguard worker"


class ReportOverdue(EngineError):
    """The address took the job and sent no report before the job's time was over."""

    code = "LG-5659"
    retryable = True
    what = "run {run} was handed over and did not report within the timeout of its job"
    next_command = "give the job a longer timeout; then: lakeguard tasks retry TASK"
