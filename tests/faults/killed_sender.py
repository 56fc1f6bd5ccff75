"""A process that tells alerts and events, and dies by SIGKILL at a named point."""

from __future__ import annotations

import os
import signal

from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points
from tests.support.projects.alert_channels import SECRET_VARIABLE, alert_sender
from tests.support.projects.event_channels import event_sender


def main(folder: str, secret: str, point: str, times: int = 1, errors: str = os.devnull) -> None:
    """``errors`` is the file that standard error goes to."""

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    os.environ[SECRET_VARIABLE] = secret
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    client = connect(folder)
    fault_points.listen(die)
    for _ in range(times):
        alert_sender(client).drain()
        event_sender(client).drain()
