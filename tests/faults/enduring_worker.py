"""A worker with its loop in a process of its own: what it takes it completes, in its own time."""

from __future__ import annotations

import os
import signal
import time

from lakeguard.work import Attempt, Ended, Manner, WorkLoop
from lakeguard.work.reporting import report_end
from lakeguard_sdk import connect
from lakeguard_sdk.processes import this_process
from tests.worlds.job_projects import DONE

POISON, LONG = "poison", "long"
SHORT_SECONDS, LONG_SECONDS = 0.02, 6.5
"""The long one is longer than three leases of two seconds."""


def main(folder: str, slots: int) -> None:
    """Until it is killed, or its task kills it."""
    client = connect(folder)

    def work(attempt: Attempt) -> Ended:
        if attempt.name == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(LONG_SECONDS if attempt.name == LONG else SHORT_SECONDS)
        return report_end(client.dispatch, attempt, DONE)

    manner = Manner(slots=slots, poll_seconds=0.1, heartbeat_seconds=1.0)
    WorkLoop(client.dispatch, this_process("enduring"), work, lambda: None, manner).run()
