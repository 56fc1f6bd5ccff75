"""``lakeguard versions``: every state that was ever approved."""

from __future__ import annotations

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.invalidations import partitions_lines
from lakeguard.cli.views.listing import versions_lines
from lakeguard_sdk.names import DatasetName


@click.command("versions")
@click.argument("dataset")
@click.option("--partitions", is_flag=True, help="What is published of each partition instead.")
@shared_options
def command(call: Call, dataset: str, partitions: bool) -> None:
    """List the versions of DATASET, newest first, with the input versions they were built from."""
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
