"""Errors of jobs and their graph: what there is not, and why a job is not launched."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


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


class KeySpent(Refused):
    """One key is one start: the first stays as it was, and another needs another key."""

    code = "LG-3332"
    what = "job {job} was started by {key} as {task}, and otherwise: {difference}"
    next_command = "lakeguard tasks show {task}, or start it with another --key"


class GraphLeft(Refused):
    """The graph went back to an earlier version: work of newer ones is withdrawn."""

    code = "LG-3331"
    what = "the graph went back to {version}, and this is work of a newer version"
    next_command = "lakeguard deploy --list"
