"""``lakeguard worker``: takes tasks that are due, and runs each to its end."""

from __future__ import annotations

from collections import Counter

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.worker import TaskTeller
from lakeguard.cli.session import project_of, stopping, writing
from lakeguard.cli.terminal.progress import note, warn
from lakeguard.cli.terminal.time_arguments import Seconds
from lakeguard.settings import Settings, hide_secrets, load_settings
from lakeguard.worker import (
    Ending,
    Manner,
    TaskRunner,
    WorkLoop,
    seclude,
)
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import check_word
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.scheduling.process_identity import this_process


def _words(
    _context: click.Context, _option: click.Parameter, said: tuple[str, ...]
) -> frozenset[str]:
    for label in said:
        try:
            check_word(label)
        except BadName:
            problem = f"{label[:40]!r} is no label; write small letters, digits and underscores"
            raise click.BadParameter(problem) from None
    return frozenset(said)


@click.command("worker")
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many tasks may run at the same time.",
)
@click.option(
    "--label", "labels", multiple=True, callback=_words, help="What this worker has, such as spark."
)
@click.option("--drain", is_flag=True, help="End when nothing is due and nothing runs.")
@click.option(
    "--poll",
    metavar="SECONDS",
    type=Seconds(0.05, 300),
    default=2.0,
    show_default=True,
    help="How often to look while nothing is due.",
)
@click.option(
    "--grace",
    metavar="SECONDS",
    type=Seconds(0, 86_400),
    default=30.0,
    show_default=True,
    help="What running tasks have once it is told to stop.",
)
@shared_options
def worker_command(
    call: Call, slots: int, labels: frozenset[str], drain: bool, poll: float, grace: float
) -> int:
    """Take tasks that are due, and run each to its end, until told to stop.

    Any number of workers may do so, anywhere that the control plane can be reached from. Builds
    share one warm Spark, which starts with the first of them. Told to stop once, a worker takes
    nothing more and lets what runs end; told again, or after the grace, it interrupts it, and
    others take those tasks. With --drain: exit 1 if an attempt failed, 3 if one was blocked, or a
    task refused, and none failed.
    """
    settings = load_settings(project_of(call), call.env)
    manner = Manner(
        slots=slots,
        labels=labels,
        poll_seconds=poll,
        heartbeat_seconds=settings.dispatch.heartbeat_seconds,
        grace_seconds=grace,
        drain=drain,
    )
    seclude()
    hide_secrets(settings)
    with writing(call) as client:
        loop = _loop(call, client, settings, manner)
        with stopping(loop.stop):
            tally = loop.run()
    return _exit_code(tally) if drain else 0


def _loop(call: Call, client: Client, settings: Settings, manner: Manner) -> WorkLoop:
    builder = local_worker(client.for_worker(), spark_options=settings.spark, progress=warn)
    runner = TaskRunner(client, builder)
    return WorkLoop(
        dispatch=client.dispatch,
        identity=this_process("worker"),
        work=runner.work,
        halt=runner.halt,
        manner=manner,
        tell=TaskTeller(as_json=call.json, note=note),
    )


def _exit_code(tally: Counter[Ending]) -> int:
    return 1 if tally[Ending.FAILED] else 3 if tally[Ending.BLOCKED] else 0
