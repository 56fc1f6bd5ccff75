"""``lakeguard worker``: claims and runs queued tasks."""

from __future__ import annotations

from collections import Counter

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.worker import WorkerPrinter
from lakeguard.cli.session import (
    hide_secrets_of,
    stopping,
    writing,
)
from lakeguard.cli.terminal.progress import note, warn
from lakeguard.cli.terminal.time_arguments import Seconds
from lakeguard.worker import (
    Ending,
    TaskRunner,
    WorkerOptions,
    WorkLoop,
    isolate_process,
)
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import check_word
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.scheduling.process_identity import this_process


def _labels(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> frozenset[str]:
    for label in values:
        try:
            check_word(label)
        except BadName:
            problem = (
                f"{label[:40]!r} is not a label; use lower-case letters, digits and underscores"
            )
            raise click.BadParameter(problem) from None
    return frozenset(values)


@click.command("worker")
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Maximum number of concurrent tasks.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    callback=_labels,
    help="A capability of this worker, such as spark; repeatable.",
)
@click.option("--drain", is_flag=True, help="Exit when no task is due or running.")
@click.option(
    "--poll",
    metavar="SECONDS",
    type=Seconds(0.05, 300),
    default=2.0,
    show_default=True,
    help="Poll interval while no task is due.",
)
@click.option(
    "--grace",
    metavar="SECONDS",
    type=Seconds(0, 86_400),
    default=30.0,
    show_default=True,
    help="Time for running tasks to finish after a stop signal.",
)
@shared_options
def worker_command(
    call: Call, slots: int, labels: frozenset[str], drain: bool, poll: float, grace: float
) -> int:
    """Claim and run queued tasks until stopped.

    Any number of workers may run, wherever the control plane can be reached. Builds share one
    Spark session, started by the first of them. On the first stop signal a worker claims no
    more tasks and lets running ones finish; on the second, or after the grace period, it
    interrupts them, and other workers take them over. With --drain: exit 1 if an attempt
    failed, 3 if one was blocked, or a task refused, and none failed.
    """
    isolate_process()
    hide_secrets_of(call)
    with writing(call, wait=not drain) as client:
        options = WorkerOptions(
            slots=slots,
            labels=labels,
            poll_seconds=poll,
            heartbeat_seconds=client.heartbeat_seconds,
            grace_seconds=grace,
            drain=drain,
        )
        loop = _loop(call, client, options)
        with stopping(loop.stop):
            tally = loop.run()
    return _exit_code(tally) if drain else 0


def _loop(call: Call, client: Client, options: WorkerOptions) -> WorkLoop:
    builder = local_worker(client.for_worker(), spark_options=client.spark_options, progress=warn)
    runner = TaskRunner(client, builder)
    return WorkLoop(
        dispatch=client.dispatch,
        identity=this_process("worker"),
        work=runner.work,
        halt=runner.halt,
        options=options,
        notify=WorkerPrinter(as_json=call.json, note=note),
        reports=runner.reports,
    )


def _exit_code(tally: Counter[Ending]) -> int:
    return 1 if tally[Ending.FAILED] else 3 if tally[Ending.BLOCKED] else 0
