"""A dispatcher that dies by SIGKILL when it reaches a named point for the so-manieth time."""

from __future__ import annotations

import os
import signal
from itertools import count

from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points


def main(folder: str, point: str, time: int, event: bytes | None = None) -> None:
    """One turn, or the taking of one event."""
    times = count(1)

    def die(reached: str) -> None:
        if reached == point and next(times) == time:
            os.kill(os.getpid(), signal.SIGKILL)

    client = connect(folder)
    fault_points.listen(die)
    if event is None:
        client.jobs.tick()
    else:
        client.jobs.receive(event)
