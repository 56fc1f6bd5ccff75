"""Errors of tasks: what an operator asks of one that it cannot be asked."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


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


class JobStillOff(NotRetryable):
    """The task was, or would be, refused because its job is switched off."""

    code = "LG-1604"
    next_command = "lakeguard jobs enable {job}, then: lakeguard tasks retry {task}"


class NotCancelable(UsageError):
    """Only what waits or runs can be canceled."""

    code = "LG-1603"
    what = "task {task} cannot be canceled: it is {state}"
    next_command = "lakeguard tasks list"


class TaskCanceled(Refused):
    """Somebody withdrew the task; what its attempt still does comes to nothing."""

    code = "LG-3301"
    what = "task {task} was canceled: {reason}"
    next_command = "lakeguard tasks retry {task}"
