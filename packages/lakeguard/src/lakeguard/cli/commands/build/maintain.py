"""``lakeguard maintain``: compact small files and remove unreferenced ones."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.maintain import Upkeep, maintain_lines
from lakeguard.cli.session import (
    client_of,
    person,
    writing,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard_sdk.client import Client, Worker, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import LakeGuardError


@click.command("maintain")
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@click.option("--dry-run", is_flag=True, help="Only show what would be compacted and removed.")
@shared_options
def maintain_command(call: Call, datasets: tuple[str, ...], dry_run: bool) -> int:
    """Compact small files of each DATASET, or of all, and remove unreferenced files.

    No row and no version changes. Files of the published version, of versions published within
    the retention, of the last two versions and of open runs are never removed. Each removal is
    recorded in the ledger first. Exit 1 if a table could not be maintained.
    """
    names = [DatasetName(dataset) for dataset in datasets]
    if dry_run:
        client = client_of(call)
        results = [_planned(client, name) for name in _chosen(client, names)]
    else:
        with writing(call) as client:
            worker = local_worker(client.for_worker(), spark_options=client.spark_options)
            results = [_maintain(client, worker, name) for name in _chosen(client, names)]
    data = {"dry_run": dry_run, "datasets": [item.to_data() for item in results]}
    answer(call, data, maintain_lines(results, dry_run=dry_run))
    return 1 if any(item.problem for item in results) else 0


def _chosen(client: Client, names: Sequence[DatasetName]) -> list[DatasetName]:
    if names:
        return [client.reader.dataset(name).dataset_name for name in names]
    return [row.dataset_name for row in client.reader.datasets()]


def _planned(client: Client, name: DatasetName) -> Upkeep:
    try:
        return Upkeep(name, client.operations.maintain(name, dry_run=True))
    except LakeGuardError as error:
        return Upkeep(name, error=error)


def _maintain(client: Client, worker: Worker, name: DatasetName) -> Upkeep:
    """Compacts first; the replaced files are removed once their retention is over."""
    operations = client.operations
    merged = unmerged = 0
    try:
        with working(f"maintaining {name}"):
            small = operations.maintain(name, dry_run=True).small_files
            if small:
                task_id = operations.submit_compaction(name, person())
                result = worker.run_compaction(task_id)
                if result.status is not RunStatus.SUCCESS:
                    return Upkeep(name, failure=result.error)
                merged, unmerged = (small, 0) if result.decision else (0, small)
            return Upkeep(name, operations.maintain(name), merged=merged, unmerged=unmerged)
    except LakeGuardError as error:
        return Upkeep(name, error=error)
