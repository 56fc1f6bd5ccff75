"""``lakeguard invalidations``: what has to be rebuilt, and what has caught up."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.invalidations import invalidation_lines, invalidations_lines
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.services.windows import chosen_window
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.scheduling.invalidations import Reason

REASONS = [reason.value for reason in Reason]


@click.group("invalidations")
def invalidations_command() -> None:
    """Mark data to be rebuilt, and see which datasets have caught up."""


@invalidations_command.command("add")
@click.argument("dataset")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="KEY",
    help="A partition, as column=value; repeatable.",
)
@click.option("--from", "start", metavar="A", help="First value of a window.")
@click.option("--to", "end", metavar="B", help="Last value, inclusive.")
@click.option("--by", metavar="COLUMN", help="Column of the window.")
@click.option("--reason", type=click.Choice(REASONS), required=True, help="Kind of reason.")
@click.option("--why", default="", help="Explanation, recorded in the ledger.")
@shared_options
def add(
    call: Call,
    dataset: str,
    partitions: tuple[str, ...],
    start: str | None,
    end: str | None,
    by: str | None,
    reason: str,
    why: str,
) -> None:
    """Mark DATASET, or a part of it, and all its dependents to be rebuilt.

    The dispatcher launches the jobs of datasets that are ready; for datasets without a job the
    command to run is shown. An invalidation is done when all of them have caught up.
    """
    window = (start, end, by)
    if (partitions and any(window)) or (start is None) != (end is None) or (by and start is None):
        raise click.UsageError("use --partition, or --from and --to, or neither")
    with writing(call) as client:
        name = client.reader.dataset(DatasetName(dataset)).dataset_name
        reach = RowRange(partitions=partitions)
        if start is not None and end is not None:
            reach = _window(client, name, start, end, by)
        row = client.operations.invalidate(name, reach, Reason(reason), why)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


@invalidations_command.command("list")
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Include closed ones.")
@shared_options
def listing(call: Call, dataset: str | None, every: bool) -> None:
    """List open invalidations, of all datasets or those that affect DATASET."""
    name = None if dataset is None else DatasetName(dataset)
    rows = client_of(call).reader.invalidations(name, every=every)
    data = {"invalidations": [row.to_data() for row in rows]}
    answer(call, data, invalidations_lines(rows, datetime.now(UTC)))


@invalidations_command.command("show")
@click.argument("invalidation")
@shared_options
def show(call: Call, invalidation: str) -> None:
    """Show one INVALIDATION: what has caught up, what waits for what, and what to run."""
    row = client_of(call).reader.invalidation(invalidation)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


@invalidations_command.command("withdraw")
@click.argument("invalidation")
@click.option("--why", required=True, help="Reason, recorded in the ledger.")
@shared_options
def withdraw(call: Call, invalidation: str, why: str) -> None:
    """Withdraw INVALIDATION: its datasets need no rebuild any more.

    Queued tasks that serve only it are canceled; running ones continue and are listed.
    """
    with writing(call) as client:
        row = client.operations.withdraw_invalidation(invalidation, why)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


def _window(client: Client, name: DatasetName, start: str, end: str, by: str | None) -> RowRange:
    definition = client.reader.definition(name)
    return RowRange(window=chosen_window(definition, client.registry.definitions(), start, end, by))
