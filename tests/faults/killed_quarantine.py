"""A run with Spark that quarantines rows, and dies for real at a named point."""

from __future__ import annotations

import os
import signal

from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points
from openlaketx.worker import create_worker
from tests.support.lakes.loaded_tables import TABLE


def main(folder: str, point: str) -> None:
    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    client = connect(folder)
    task = client.operations.submit(TABLE, "mortal")
    create_worker(client.for_worker(), spark_options={}).run_task(task)
