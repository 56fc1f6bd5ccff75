"""``lakeguard invalidations``: what has to be built again, and who has caught up."""

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
from lakeguard_sdk.model.row_ranges import Reach
from lakeguard_sdk.scheduling.invalidations import Reason

REASONS = [reason.value for reason in Reason]


@click.group("invalidations")
def invalidations_command() -> None:
    """Say what has to be built again, and see who has caught up."""


@invalidations_command.command("add")
@click.argument("dataset")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="KEY",
    help="A partition, as column=value; may be given more than once.",
)
@click.option("--from", "start", metavar="A", help="The first value of a window.")
@click.option("--to", "end", metavar="B", help="The last value, included.")
@click.option("--by", metavar="COLUMN", help="The column that the window is about.")
@click.option("--reason", type=click.Choice(REASONS), required=True, help="What is the matter.")
@click.option("--why", default="", help="More of it, in words; it stays in the ledger.")
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
    """Say that DATASET, or a part of it, has to be built again, and all that was built from it.

    The dispatcher launches jobs of those that may catch up; whoever has no job is shown with the
    command to run. It is over when all have caught up.
    """
    window = (start, end, by)
    if (partitions and any(window)) or (start is None) != (end is None) or (by and start is None):
        raise click.UsageError("say --partition, or a window with --from and --to, or neither")
    with writing(call) as client:
        name = client.reader.dataset(DatasetName(dataset)).dataset_name
        reach = Reach(partitions=partitions)
        if start is not None and end is not None:
            reach = _window(client, name, start, end, by)
        row = client.operations.invalidate(name, reach, Reason(reason), why)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


@invalidations_command.command("list")
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Also those that are over.")
@shared_options
def listing(call: Call, dataset: str | None, every: bool) -> None:
    """List what some have not caught up with, of all datasets or of those that reach DATASET."""
    name = None if dataset is None else DatasetName(dataset)
    rows = client_of(call).reader.invalidations(name, every=every)
    data = {"invalidations": [row.to_data() for row in rows]}
    answer(call, data, invalidations_lines(rows, datetime.now(UTC)))


@invalidations_command.command("show")
@click.argument("invalidation")
@shared_options
def show(call: Call, invalidation: str) -> None:
    """Show one INVALIDATION: who has caught up, who waits for whom, and what to run."""
    row = client_of(call).reader.invalidation(invalidation)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


@invalidations_command.command("withdraw")
@click.argument("invalidation")
@click.option("--why", required=True, help="Why; it stays in the ledger.")
@shared_options
def withdraw(call: Call, invalidation: str, why: str) -> None:
    """Take INVALIDATION back: nobody has to catch up with it any more.

    Tasks that wait for it alone are canceled with it; what runs goes on, and is named.
    """
    with writing(call) as client:
        row = client.operations.withdraw_invalidation(invalidation, why)
    answer(call, {"invalidation": row.to_data()}, invalidation_lines(row))


def _window(client: Client, name: DatasetName, start: str, end: str, by: str | None) -> Reach:
    definition = client.reader.definition(name)
    return Reach(window=chosen_window(definition, client.registry.definitions(), start, end, by))
