"""Errors of whoever reports on an attempt: a worker, or an orchestrator outside."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


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


class NotHandedOver(UsageError):
    """What runs here ends here; only an attempt that called an address outside goes on there."""

    code = "LG-1615"
    what = "{run} is of kind {kind}, and only a job of type http goes on outside"
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
