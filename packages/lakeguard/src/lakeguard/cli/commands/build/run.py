"""``lakeguard run``: build, stage, measure, decide and publish datasets."""

from __future__ import annotations

from threading import Event

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.quarantine import quarantined_lines
from lakeguard.cli.rendering.run import ended_line, many_lines, run_lines
from lakeguard.cli.session import person, project_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note, working, working_on_many
from lakeguard.services.choose_datasets import Chosen, choose_all, choose_named
from lakeguard.services.run_graph import Ended, Outcome, run_many
from lakeguard.services.run_task import (
    published_version,
    published_versions,
    quarantined_by,
    run_to_end,
)
from lakeguard.settings import load_settings
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult

EXIT_CODES = {RunStatus.SUCCESS: 0, RunStatus.FAILED: 1, RunStatus.BLOCKED: 3}


@click.command("run")
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@click.option("--all", "everything", is_flag=True, help="Run every dataset, parents first.")
@click.option("--with-parents", is_flag=True, help="Run their parents, too.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Maximum number of concurrent runs.",
)
@shared_options
def run_command(
    call: Call, datasets: tuple[str, ...], everything: bool, with_parents: bool, jobs: int
) -> int:
    """Build each DATASET, stage and measure it, and publish it if the gate allows.

    Parents run before children, and datasets that rules refer to before those rules. A blocked or
    failed dataset stops only its descendants. Exit 0 if all were promoted or had nothing new, 1 if
    one failed, 3 if one was blocked and none failed. Retryable failures are retried; a block never
    is.
    """
    if everything == bool(datasets) or (everything and with_parents):
        raise click.UsageError("name datasets to run, or use --all")
    names = [DatasetName(dataset) for dataset in datasets]
    with writing(call) as client:
        named = [client.reader.dataset(name).dataset_name for name in names]
        known = client.registry.definitions().datasets
        if everything:
            return _many(call, client, choose_all(known), jobs)
        chosen = choose_named(named, known, with_parents=with_parents)
        if len(chosen.parents) > 1 or chosen.left_out:
            return _many(call, client, chosen, jobs)
        return _one(call, client, named[0])


def _one(call: Call, client: Client, name: DatasetName) -> int:
    spark_options = load_settings(project_of(call), call.env).spark
    with working(f"running {name}") as show_progress:
        worker = local_worker(
            client.for_worker(), spark_options=spark_options, progress=show_progress
        )
        result = run_to_end(client, worker, name, person(), note=note)
    published = published_version(client, name)
    quarantined = quarantined_by(client, result)
    data: dict[str, object] = {"run": result.to_data(), "published": published}
    data |= {"quarantined": [row.to_data() for row in quarantined]} if quarantined else {}
    answer(call, data, [*run_lines(result, published), *quarantined_lines(quarantined)])
    return EXIT_CODES[result.status]


def _many(call: Call, client: Client, chosen: Chosen, jobs: int) -> int:
    ended = _walked(call, client, chosen, jobs)
    published = published_versions(client)
    data = {
        "runs": [
            {"outcome": item.outcome, "published": published.get(item.dataset), **item.to_data()}
            for item in ended
        ],
        "left_out": dict(sorted(chosen.left_out.items())),
    }
    answer(call, data, many_lines(ended, published, chosen.left_out))
    outcomes = {item.outcome for item in ended}
    return 1 if Outcome.FAILED in outcomes else 3 if Outcome.BLOCKED in outcomes else 0


def _walked(call: Call, client: Client, chosen: Chosen, jobs: int) -> list[Ended]:
    spark_options = load_settings(project_of(call), call.env).spark
    who, stopped = person(), Event()
    with working_on_many() as board:
        worker = local_worker(
            client.for_worker(), spark_options=spark_options, progress=board.show_stage
        )

        def run(name: DatasetName) -> RunResult:
            with board.running(name):
                return run_to_end(client, worker, name, who, sleep=stopped.wait, note=note)

        def stop() -> None:
            stopped.set()
            worker.stop()

        return run_many(
            chosen.parents,
            run,
            jobs=jobs,
            stop=stop,
            on_end=lambda item: note(ended_line(item)),
            after=chosen.after,
        )
