"""``lakeguard runs`` and ``lakeguard versions``."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.invalidations import partitions_lines
from lakeguard.cli.rendering.runs import runs_lines, versions_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer
from lakeguard_sdk.core.dataset_name import DatasetName


@click.command("runs")
@click.argument("dataset", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Maximum number of runs, those that have not ended included.",
)
@shared_options
def runs_command(call: Call, dataset: str | None, limit: int) -> None:
    """List runs, newest first; of DATASET, or of all. Runs that have not ended come first, and a
    run whose process died is shown as dead."""
    reader = client_of(call).reader
    name = None if dataset is None else reader.dataset(DatasetName(dataset)).dataset_name
    open_runs = reader.open_runs(name)[:limit]
    runs = reader.runs(name, limit)[: limit - len(open_runs)]
    data = {
        "runs": [run.to_data() for run in runs],
        "open_runs": [row.to_data() for row in open_runs],
    }
    answer(call, data, runs_lines(runs, datetime.now(UTC), open_runs))


# ``lakeguard versions``


@click.command("versions")
@click.argument("dataset")
@click.option("--partitions", is_flag=True, help="List the published partitions instead.")
@shared_options
def versions_command(call: Call, dataset: str, partitions: bool) -> None:
    """List the versions of DATASET, newest first, with their input versions."""
    reader = client_of(call).reader
    name = reader.dataset(DatasetName(dataset)).dataset_name
    if partitions:
        rows = reader.partitions(name)
        data = {"dataset": name, "partitions": [row.to_data() for row in rows]}
        answer(call, data, partitions_lines(rows))
        return
    versions = reader.versions(name)
    data = {"dataset": name, "versions": [version.to_data() for version in versions]}
    answer(call, data, versions_lines(versions))
