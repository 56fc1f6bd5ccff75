"""``lakeguard schema``: compare and approve the schemas that runs found."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.schema import approved_lines, diff_lines, history_lines
from lakeguard.cli.session import client_of, project_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.services.approve_schema import approve
from lakeguard.services.definition_errors import with_source_lines
from lakeguard_sdk.core.dataset_name import DatasetName


@click.group("schema")
def schema_command() -> None:
    """Compare the schemas that runs found, and approve one."""


@schema_command.command("diff")
@click.argument("dataset")
@shared_options
def diff(call: Call, dataset: str) -> None:
    """Show how the latest schema found differs from what DATASET declares.

    Each difference is shown with its class and the reaction of each schema profile.
    """
    reader = client_of(call).reader
    name = reader.dataset(DatasetName(dataset)).dataset_name
    found = reader.schema_diff(name)
    lines = diff_lines(name, found, reader.definition(name).leave_out)
    answer(call, {"diff": found.to_data() if found else None}, lines)


@schema_command.command("history")
@click.argument("dataset")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1), help="Maximum number."
)
@shared_options
def history(call: Call, dataset: str, limit: int) -> None:
    """List the schemas that runs of DATASET found, newest first, and whether they were accepted."""
    rows = client_of(call).reader.schemas(DatasetName(dataset), limit)
    data = {"schemas": [row.to_data() for row in rows]}
    answer(call, data, history_lines(dataset, rows, datetime.now(UTC)))


@schema_command.command("approve")
@click.argument("dataset")
@click.option(
    "--reason", callback=written, required=True, help="Reason, recorded with the revision."
)
@click.option(
    "--column", "columns", multiple=True, metavar="NAME", help="Only this column; repeatable."
)
@shared_options
def approve_command(call: Call, dataset: str, reason: str, columns: tuple[str, ...]) -> None:
    """Declare the latest schema found, or only the given columns, and apply it.

    The definition file, if there is one, is edited in place; the rest of it is unchanged.
    """
    if not reason.strip():
        raise click.UsageError("give a reason: --reason TEXT")
    with with_source_lines(project_of(call)), writing(call) as client:
        made = approve(client, project_of(call), DatasetName(dataset), columns, reason)
    answer(call, made.to_data(), approved_lines(made))
