"""Running one task to its end in this process, as a worker would."""

from __future__ import annotations

from lakeguard.cli.options import Call
from lakeguard.cli.session import project_of, stopping
from lakeguard.cli.terminal.progress import warn
from lakeguard.settings import hide_secrets, load_settings
from lakeguard.worker import (
    Attempt,
    Bench,
    Ended,
    Ending,
    seclude,
)
from lakeguard.worker.heartbeat import keeping_leases
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import RefusedTask

EXIT_CODES = {
    Ending.SUCCEEDED: 0,
    Ending.HANDED_OVER: 0,
    Ending.FAILED: 1,
    Ending.TAKEN: 1,
    Ending.BLOCKED: 3,
}
KNOWN_ENDS = {
    TaskState.COMPLETED: 0,
    TaskState.BLOCKED: 3,
    TaskState.RUNNING: 1,
    TaskState.FAILED: 1,
    TaskState.CANCELED: 1,
    TaskState.DEAD: 1,
}
"""Exit codes where the same was started before, so that nothing runs here."""


def run_here(call: Call, client: Client, task_id: str) -> Ended:
    """How the attempt ended; ``TAKEN`` where somebody else has the task, or its job is full."""
    settings = load_settings(project_of(call), call.env)
    seclude()
    hide_secrets(settings)
    refused: list[RefusedTask] = []
    taken = client.dispatch.claim(this_process("cli"), only=task_id, refused=refused.append)
    if refused:
        return Ended(Ending.BLOCKED, refused[0].error)
    if not taken:
        return Ended(Ending.TAKEN)
    attempt = Attempt(taken[0])
    builder = local_worker(client.for_worker(), spark_options=settings.spark, progress=warn)
    bench = Bench(client, builder)

    def stop() -> None:
        attempt.stop()
        bench.halt()

    beat = settings.dispatch.heartbeat_seconds
    with stopping(stop), keeping_leases(client.dispatch, lambda: [attempt], beat):
        return bench.work(attempt)
