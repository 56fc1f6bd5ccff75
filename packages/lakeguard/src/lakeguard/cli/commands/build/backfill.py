"""``lakeguard backfill``: rebuild a window or partitions of a dataset."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeguard.cli.commands.build.run import EXIT_CODES
from lakeguard.cli.options import Call, shared_options, with_env
from lakeguard.cli.rendering.run import run_lines
from lakeguard.cli.session import person, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note, working
from lakeguard.services.choose_datasets import Ran, Run, choose_named, run_downstream
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.run_task import published_version, run_to_end
from lakeguard.services.windows import again_command, chosen_window, partition_windows
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult, Window


@click.command("backfill")
@click.argument("dataset")
@click.option("--from", "start", metavar="A", help="First value of the window.")
@click.option("--to", "end", metavar="B", help="Last value, inclusive.")
@click.option("--by", metavar="COLUMN", help="Column of the window.")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="KEY",
    help="A partition, as column=value; repeatable.",
)
@click.option("--downstream", is_flag=True, help="Then rebuild its dependents, too.")
@shared_options
def backfill_command(
    call: Call,
    dataset: str,
    start: str | None,
    end: str | None,
    by: str | None,
    partitions: tuple[str, ...],
    downstream: bool,
) -> int:
    """Rebuild the rows of DATASET whose column is between A and B, inclusive.

    The column is given by --by, else it is the only partition column with an order, else the
    watermark. With --partition, each partition is built by its own run, in order, until one does
    not succeed. The gate checks each run as usual; exit codes are those of run.
    """
    _require_one_way(start, end, by, partitions)
    with writing(call) as client:
        name = client.reader.dataset(DatasetName(dataset)).dataset_name
        windows = _windows(client, name, start, end, by, partitions)
        run = _runner(call, client)
        ran = _in_order(run, name, windows)
        left = len(windows) - len(ran)
        if downstream and ran[-1][0].status is RunStatus.SUCCESS:
            ran += run_downstream(client, name, run)
        return _print_results(call, client, ran, left)


def _require_one_way(
    start: str | None, end: str | None, by: str | None, partitions: Sequence[str]
) -> None:
    if partitions and (start is not None or end is not None or by is not None):
        raise click.UsageError("use --partition, or --from and --to")
    if not partitions and (start is None or end is None):
        raise click.UsageError("use --from and --to, or --partition")


def _windows(
    client: Client,
    name: DatasetName,
    start: str | None,
    end: str | None,
    by: str | None,
    partitions: Sequence[str],
) -> list[Window]:
    definitions = client.registry.definitions()
    choose_named([name], definitions.datasets, with_parents=False)
    definition = client.reader.definition(name)
    if partitions:
        return partition_windows(definition, partitions)
    return [chosen_window(definition, definitions, str(start), str(end), by)]


def _runner(call: Call, client: Client) -> Run:

    def run(name: DatasetName, window: Window | None) -> RunResult:
        what = f"backfilling {name}, {window_text(window)}" if window else f"running {name}"
        with working(what) as show_progress:
            worker = local_worker(
                client.for_worker(), spark_options=client.spark_options, progress=show_progress
            )
            return run_to_end(client, worker, name, person(), window=window, note=note)

    return run


def _in_order(run: Run, name: DatasetName, windows: Sequence[Window]) -> list[Ran]:
    ran: list[Ran] = []
    for window in windows:
        ran.append((run(name, window), window))
        if ran[-1][0].status is not RunStatus.SUCCESS:
            break
    return ran


def _print_results(call: Call, client: Client, ran: Sequence[Ran], left: int) -> int:
    """Prints each run, with the command that repeats it."""
    lines: list[str] = []
    data: list[dict[str, object]] = []
    for result, window in ran:
        published = published_version(client, result.dataset)
        again = escaped(with_env(again_command(result.dataset, window), call.env))
        lines += [f"window: {window_text(window)}"] if window else []
        lines += run_lines(result, published, again)
        window_data = window.to_data() if window else None
        data.append({"run": result.to_data(), "published": published, "window": window_data})
    lines += [f"{plural(left, 'partition')} not started"] if left else []
    answer(call, data[0] if len(data) == 1 else {"runs": data}, lines)
    return max((EXIT_CODES[result.status] for result, _ in ran), key=_badness)


def _badness(code: int) -> tuple[bool, int]:
    """Failed is worse than blocked."""
    return code == EXIT_CODES[RunStatus.FAILED], code


def window_text(window: Window) -> str:
    """``flight_date from 2013-01-01 to 2013-01-31``, escaped."""
    return escaped(f"{window.column} from {window.start} to {window.end}")
