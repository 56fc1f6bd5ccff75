"""``lakeguard runs``: builds of datasets, and executions of Python and HTTP jobs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.runs import execution_lines, run_lines, runs_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.read_models import OpenRun
from lakeguard_sdk.ports import Reader

RUNNING = "running"
STATUSES = (*(status.value.lower() for status in RunStatus), RUNNING)


class _Runs(click.Group):
    """``runs`` and ``runs DATASET`` are short for ``runs list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in (*self.commands, *ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("runs", cls=_Runs)
def runs_command() -> None:
    """List runs, newest first, or show one."""


@runs_command.command("list")
@click.argument("dataset", required=False)
@click.option("--dataset", "named", metavar="DATASET", help="Of this dataset only.")
@click.option("--status", type=click.Choice(STATUSES), help="With this status only.")
@click.option(
    "--since", metavar="WHEN", help="Started since: a duration such as 7d, a day, or a time."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Maximum number of runs, including those that have not ended.",
)
@shared_options
def list_command(
    call: Call,
    dataset: str | None,
    named: str | None,
    status: str | None,
    since: str | None,
    limit: int,
) -> None:
    """List runs, newest first; of DATASET, or of all, with executions of Python and HTTP jobs.

    Runs that have not ended come first, and a run whose process died is shown as dead.
    """
    if dataset and named:
        raise click.UsageError("name one dataset")
    reader, wanted = client_of(call).reader, dataset or named
    name = None if wanted is None else reader.dataset(DatasetName(wanted)).dataset_name
    now = datetime.now(UTC)
    begun = None if since is None else moment_of(since, now)
    open_runs = _open_runs(reader, name, status, begun)[:limit]
    ended = None if status in (None, RUNNING) else RunStatus(str(status).upper())
    runs = [] if status == RUNNING else reader.runs(name, limit, status=ended, since=begun)
    executions = [] if name else reader.executions(status=ended, since=begun, limit=limit)
    if status == RUNNING:
        executions = [each for each in executions if each.status is None]
    left = limit - len(open_runs)
    runs, executions = runs[:left], executions[:left]
    data = {
        "runs": [run.to_data() for run in runs],
        "open_runs": [row.to_data() for row in open_runs],
        "executions": [each.to_data() for each in executions],
    }
    answer(call, data, runs_lines(runs, now, open_runs, executions, most=limit))


def _open_runs(
    reader: Reader, name: DatasetName | None, status: str | None, since: datetime | None
) -> Sequence[OpenRun]:
    if status not in (None, RUNNING):
        return ()
    rows = reader.open_runs(name)
    return [row for row in rows if since is None or row.begun_at >= since]


@runs_command.command("show")
@click.argument("run")
@shared_options
def show_command(call: Call, run: str) -> None:
    """Show RUN: a build, or an execution of a Python or HTTP job."""
    reader, now = client_of(call).reader, datetime.now(UTC)
    try:
        execution = reader.execution(run)
    except UnknownRun:
        found = reader.run(run)
        answer(call, {"run": found.to_data()}, run_lines(found, now))
    else:
        answer(call, {"execution": execution.to_data()}, execution_lines(execution, now))
