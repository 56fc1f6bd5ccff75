"""A worker with its loop in a process of its own: what it takes it completes, in its own time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from lakeguard.worker import (
    Attempt,
    Ended,
    WorkerOptions,
    WorkLoop,
)
from lakeguard.worker.task_runner import report_end
from lakeguard_sdk import connect
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.jobs import DONE

POISON, SLOW, LONG, HELD = "poison", "slow", "long", "held"
SECONDS = {SLOW: 0.4, LONG: 6.5}
"""Of jobs that take their time; the long one takes more than three leases of two seconds."""
QUICK_SECONDS = 0.02
GO = "go"
"""A file of the project: until it is there, nothing that is held comes to its end."""


def main(folder: str, slots: int) -> None:
    """Until it is killed, or its task kills it."""
    try:
        client = connect(folder)
    except StateUnavailable:
        return  # another one is started

    def work(attempt: Attempt) -> Ended:
        if attempt.name == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        while attempt.name == HELD and not (Path(folder) / GO).exists():
            time.sleep(QUICK_SECONDS)
        time.sleep(SECONDS.get(attempt.name, QUICK_SECONDS))
        return report_end(client.dispatch, attempt, DONE)

    manner = WorkerOptions(slots=slots, poll_seconds=0.1, heartbeat_seconds=1.0)
    WorkLoop(client.dispatch, this_process("enduring"), work, lambda: None, manner).run()
