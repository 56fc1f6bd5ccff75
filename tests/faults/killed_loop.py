"""A worker with its loop, in a process that dies at a named point or is put to sleep."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points
from tests.support.projects.worker_jobs import loop_of


def main(folder: str, point: str) -> None:
    """Works until nothing is due; leaves how its attempts ended, if it comes to that."""

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    tally = loop_of(connect(folder), heartbeat_seconds=0.5).run()
    Path(folder, "tally").write_text(json.dumps(tally))
