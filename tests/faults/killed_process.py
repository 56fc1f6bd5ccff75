"""What a process does that dies for real, by SIGKILL, at a named point."""

from __future__ import annotations

import os
import signal

from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points
from openlaketx.pipeline.compaction import run_compaction
from tests.support.lakes.foreign_tables import adopt
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS


def main(folder: str, point: str, act: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    client = connect(folder)
    if act == "run":
        run_by_hand(client, [100, 101])
    elif act == "compact":
        run_compaction(client.operations.submit_compaction(NUMBERS, "mortal"), client.for_worker())
    elif act == "adopt":
        adopt(client, NUMBERS)
    elif act == "maintain":
        client.operations.maintain(NUMBERS)
    elif act == "rollback":
        client.operations.rollback(NUMBERS, 1, "to die for")
    else:
        client.operations.reap()
