"""``lakeguard runs``: what ran."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.listing import runs_lines
from lakeguard_sdk.names import DatasetName


@click.command("runs")
@click.argument("dataset", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many runs to list.",
)
@shared_options
def command(call: Call, dataset: str | None, limit: int) -> None:
    """List the runs that ended, newest first; of DATASET, or of all."""
    reader = client_of(call).reader
    name = None if dataset is None else reader.dataset(DatasetName(dataset)).dataset_name
    runs = reader.runs(name, limit)
    data = {"runs": [run.to_data() for run in runs]}
    answer(call, data, runs_lines(runs, datetime.now(UTC)))
