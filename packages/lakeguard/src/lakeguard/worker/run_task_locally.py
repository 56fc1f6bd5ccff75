"""Run one task in this process, as a worker would."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from lakeguard.worker import (
    Attempt,
    Ended,
    Ending,
    TaskRunner,
    isolate_process,
)
from lakeguard.worker.heartbeat import heartbeats
from lakeguard_sdk.client import Client, Progress, local_worker
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import RefusedTask

OnStop = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Calls the given function when the process is asked to stop, while the block runs."""


def run_task_locally(client: Client, task_id: str, *, progress: Progress, on_stop: OnStop) -> Ended:
    """How the attempt ended; ``TAKEN`` if another worker has the task or its job is full."""
    isolate_process()
    refused: list[RefusedTask] = []
    taken = client.dispatch.claim(this_process("cli"), only=task_id, refused=refused.append)
    if refused:
        return Ended(Ending.BLOCKED, refused[0].error)
    if not taken:
        return Ended(Ending.TAKEN)
    attempt = Attempt(taken[0])
    builder = local_worker(
        client.for_worker(), spark_options=client.spark_options, progress=progress
    )
    runner = TaskRunner(client, builder)

    def stop() -> None:
        attempt.stop()
        runner.halt()

    beat = client.heartbeat_seconds
    with on_stop(stop), heartbeats(client.dispatch, lambda: [attempt], beat):
        return runner.work(attempt)
