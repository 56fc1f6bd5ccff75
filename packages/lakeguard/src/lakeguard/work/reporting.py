"""Telling the dispatcher how an attempt ended, until it has heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from lakeguard.work import pauses
from lakeguard.work.attempt import ENDINGS, Attempt, Ended, Ending
from lakeguard.work.pauses import is_waited_out
from lakeguard_sdk.dispatch import Dispatch, TaskReport
from lakeguard_sdk.errors import Fenced, LakeGuardError
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import failure_of

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


def hand_over(dispatch: Dispatch, attempt: Attempt) -> Ended:
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
    for pause in pauses.BACKOFF.jittered():
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
