"""``lakeguard run``: build, stage, measure, decide and publish datasets.

Each step imports what it needs, so that ``--help`` and a wrong option answer at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note, working, working_on_many
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import NothingApplied

if TYPE_CHECKING:
    from lakeguard.services.choose_datasets import Chosen
    from lakeguard.services.run_graph import Ended
    from lakeguard_sdk.core.dataset_name import DatasetName
    from lakeguard_sdk.model.run import RunResult

EXIT_CODES = {RunStatus.SUCCESS: 0, RunStatus.FAILED: 1, RunStatus.BLOCKED: 3}


@click.command("run")
@click.argument("datasets", nargs=-1, metavar="[SELECTOR]...")
@click.option("--all", "everything", is_flag=True, help="Run every dataset, parents first.")
@click.option("--with-parents", is_flag=True, help="Run their parents, too.")
@click.option(
    "--changed",
    is_flag=True,
    help="Only those not published as now defined, or with newer inputs.",
)
@click.option("--apply", "apply_first", is_flag=True, help="Apply the definitions first.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Maximum number of concurrent runs.",
)
@shared_options
def run_command(
    call: Call,
    datasets: tuple[str, ...],
    everything: bool,
    with_parents: bool,
    changed: bool,
    apply_first: bool,
    jobs: int,
) -> int:
    """Build each selected dataset, stage and measure it, and publish it if the gate allows.

    SELECTOR is a dataset, tag:NAME of a column, or domain:NAME; +SELECTOR adds its ancestors,
    SELECTOR+ its descendants. A run uses the applied definitions: files that differ are named, and
    --apply applies them first.

    Parents run before children, and datasets that rules refer to before those rules. A blocked or
    failed dataset stops only its descendants. Exit 0 if all were promoted or had nothing new, 1 if
    one failed, 3 if one was blocked and none failed. Retryable failures are retried; a block never
    is.
    """
    if everything == bool(datasets) and not (changed and not everything):
        raise click.UsageError("name datasets to run, or use --all or --changed")
    if everything and with_parents:
        raise click.UsageError("--all includes all parents")
    from lakeguard.cli.session import writing
    from lakeguard.services.choose_datasets import choose_all, choose_selected

    with writing(call) as client:
        apply_or_note(call, client, apply_first=apply_first)
        known = client.registry.definitions().datasets
        if not known and not datasets:
            raise NothingApplied
        only = client.reader.changed() if changed else None
        if everything and only is None:
            return _many(call, client, choose_all(known), jobs)
        chosen = choose_selected(datasets, known, with_parents=with_parents, only=only)
        if len(chosen.parents) != 1 or chosen.left_out:
            return _many(call, client, chosen, jobs)
        return _one(call, client, next(iter(chosen.parents)))


def apply_or_note(call: Call, client: Client, *, apply_first: bool) -> None:
    """Apply the definitions in the files, or note that they differ from what is applied."""
    from lakeguard.cli.rendering.jobs import run_unapplied_lines
    from lakeguard.cli.rendering.plan import applied_lines
    from lakeguard.cli.session import folder_of
    from lakeguard.registry.load_folder import load_folder
    from lakeguard.services.definition_errors import with_source_lines
    from lakeguard.services.unapplied import unapplied

    folder = folder_of(call)
    if not apply_first:
        for line in run_unapplied_lines(unapplied(client, folder)):
            note(line)
        return
    with with_source_lines(folder):
        plan = client.registry.plan(load_folder(folder))
        applied = client.registry.apply(plan)
    for line in applied_lines(plan, applied):
        note(line)


def _one(call: Call, client: Client, name: DatasetName) -> int:
    from lakeguard.cli.rendering.quarantine import quarantined_lines
    from lakeguard.cli.rendering.run import run_lines
    from lakeguard.cli.session import person
    from lakeguard.services.run_task import published_version, quarantined_by, run_to_end

    with working(f"running {name}") as show_progress:
        worker = local_worker(
            client.for_worker(), spark_options=client.spark_options, progress=show_progress
        )
        with noting_interrupts(client, lambda: [name]):
            result = run_to_end(client, worker, name, person(), note=note)
    published = published_version(client, name)
    quarantined = quarantined_by(client, result)
    data: dict[str, object] = {"run": result.to_data(), "published": published}
    data |= {"quarantined": [row.to_data() for row in quarantined]} if quarantined else {}
    columns = _new_columns(client, [name])
    answer(call, data, [*run_lines(result, published), *quarantined_lines(quarantined), *columns])
    return EXIT_CODES[result.status]


def _new_columns(client: Client, names: Collection[DatasetName]) -> list[str]:
    """What the inputs have and the tables lack."""
    from lakeguard.cli.rendering.status import new_column_lines

    chosen = (item for item in client.reader.status() if item.dataset.dataset_name in names)
    return [line for status in chosen for line in new_column_lines(status)]


def _many(call: Call, client: Client, chosen: Chosen, jobs: int) -> int:
    from lakeguard.cli.rendering.run import many_lines
    from lakeguard.services.run_graph import Outcome
    from lakeguard.services.run_task import published_versions

    ended = _walked(call, client, chosen, jobs)
    published = published_versions(client)
    data = {
        "runs": [
            {"outcome": item.outcome, "published": published.get(item.dataset), **item.to_data()}
            for item in ended
        ],
        "left_out": dict(sorted(chosen.left_out.items())),
    }
    columns = _new_columns(client, [item.dataset for item in ended])
    answer(call, data, [*many_lines(ended, published, chosen.left_out), *columns])
    outcomes = {item.outcome for item in ended}
    return 1 if Outcome.FAILED in outcomes else 3 if Outcome.BLOCKED in outcomes else 0


def _walked(call: Call, client: Client, chosen: Chosen, jobs: int) -> list[Ended]:
    from lakeguard.cli.rendering.run import ended_line
    from lakeguard.cli.session import person
    from lakeguard.services.run_graph import run_many
    from lakeguard.services.run_task import run_to_end

    begun: list[DatasetName] = []
    who, stopped = person(), Event()
    with working_on_many() as board:
        worker = local_worker(
            client.for_worker(), spark_options=client.spark_options, progress=board.show_stage
        )

        def run(name: DatasetName) -> RunResult:
            begun.append(name)
            with board.running(name):
                return run_to_end(client, worker, name, who, sleep=stopped.wait, note=note)

        def stop() -> None:
            stopped.set()
            worker.stop()

        def end(item: Ended) -> None:
            if item.dataset in begun:
                begun.remove(item.dataset)
            note(ended_line(item))

        with noting_interrupts(client, lambda: begun):
            return run_many(
                chosen.parents, run, jobs=jobs, stop=stop, on_end=end, after=chosen.after
            )


@contextmanager
def noting_interrupts(client: Client, begun: Callable[[], Sequence[DatasetName]]) -> Iterator[None]:
    """On Ctrl-C, note what became of each run that had begun."""
    from lakeguard.cli.rendering.run import interrupted_lines

    try:
        yield
    except KeyboardInterrupt:
        for name in begun():
            runs, open_runs = client.reader.runs(name, 1), client.reader.open_runs(name)
            for line in interrupted_lines(name, runs, open_runs):
                note(line)
        raise
