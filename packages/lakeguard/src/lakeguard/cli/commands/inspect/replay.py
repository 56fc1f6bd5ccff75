"""``lakeguard replay``: repeat recorded decisions, or rebuild a run."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.replay import rebuild_lines, replay_lines, replays_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.dataset_name import DatasetName


@click.command("replay")
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Repeat every recorded decision.")
@click.option("--since", metavar="TIME", help="With --all: a duration such as 90d, or a time.")
@click.option("--dataset", metavar="DATASET", help="With --all: only decisions on this dataset.")
@click.option("--rebuild", is_flag=True, help="Rebuild the run and compare its rows.")
@shared_options
def replay_command(
    call: Call, run: str | None, every: bool, since: str | None, dataset: str | None, rebuild: bool
) -> int:
    """Repeat the decision on RUN from its recorded evidence, rules and policies; --all: every run.

    With --rebuild, the rows of RUN are rebuilt from its pinned inputs and source files in a scratch
    folder, and compared. Exit 0 if identical, 1 with the difference if not.
    """
    _check_call(run, every=every, narrowed=bool(since or dataset), rebuild=rebuild)
    if every:
        return _replay_all(call, since, dataset)
    return _rebuild(call, str(run)) if rebuild else _replay(call, str(run))


def _check_call(run: str | None, *, every: bool, narrowed: bool, rebuild: bool) -> None:
    if every == (run is not None):
        raise click.UsageError("name a run, or use --all")
    if narrowed and not every:
        raise click.UsageError("--since and --dataset go with --all")
    if rebuild and every:
        raise click.UsageError("--rebuild needs a single run")


def _replay(call: Call, run: str) -> int:
    result = client_of(call).reader.replay(run)
    answer(call, {"replay": result.to_data()}, replay_lines(result))
    return 0 if result.identical else 1


def _replay_all(call: Call, since: str | None, dataset: str | None) -> int:
    start = None if since is None else moment_of(since, datetime.now(UTC))
    name = None if dataset is None else DatasetName(dataset)
    memory = client_of(call).history
    with working("replaying") as show_progress:
        found = memory.replay_all(
            name, since=start, progress=lambda stage: show_progress(stage, {})
        )
    data = {"replays": {**found.to_data(), "identical": found.identical}}
    answer(call, data, replays_lines(found))
    return 0 if found.identical else 1


def _rebuild(call: Call, run: str) -> int:
    client = client_of(call)
    plan = client.history.rebuild_plan(run)
    with working(f"rebuilding {run}") as show_progress:
        worker = local_worker(
            client.for_worker(), spark_options=client.spark_options, progress=show_progress
        )
        found = worker.rebuild(plan)
    data = {"rebuild": {**found.to_data(), "same": found.same}}
    answer(call, data, rebuild_lines(found, plan.run))
    return 0 if found.same else 1
