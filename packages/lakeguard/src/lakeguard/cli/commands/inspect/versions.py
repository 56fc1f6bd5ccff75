"""``lakeguard versions``."""

from __future__ import annotations

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.invalidations import partitions_lines
from lakeguard.cli.rendering.runs import versions_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer
from lakeguard_sdk.core.dataset_name import DatasetName


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
