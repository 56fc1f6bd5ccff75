"""One task, run in this process by whoever launched it."""

from __future__ import annotations

from lakeguard.work.attempt import Attempt, Ended
from lakeguard.work.bench import Bench
from lakeguard.work.loop import Manner, Teller, Told, WorkLoop
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.processes import this_process


def run_here(
    client: Client, builder: Worker, task_id: str, *, tell: Teller = lambda *_: None
) -> Ended | None:
    """How its next attempt ended; None where others have it, or its job has as many attempts under
    way as it may have. Ctrl-C interrupts the attempt."""
    ends: list[Ended] = []

    def hear(told: Told, attempt: Attempt | None, ended: Ended | None, said: str) -> None:
        ends.extend([] if ended is None else [ended])
        tell(told, attempt, ended, said)

    bench = Bench(client, builder)
    manner = Manner(poll_seconds=1.0, grace_seconds=0, drain=True, only=task_id)
    WorkLoop(client.dispatch, this_process("here"), bench.work, bench.halt, manner, hear).run()
    return ends[-1] if ends else None
