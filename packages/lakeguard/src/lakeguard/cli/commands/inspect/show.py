"""``lakeguard show``: everything about one dataset."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.status import Health, status_lines, worst_first
from lakeguard.cli.session import (
    client_of,
    project_of,
    service_url,
    writing,
)
from lakeguard.cli.terminal.output import answer, this_screen
from lakeguard.cli.terminal.progress import working
from lakeguard.settings import load_settings
from lakeguard.state.health_check import require_whole
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import Address, DatasetName, parse_address
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.read_models import DatasetStatus, RunFacts
from lakeguard_sdk.ports import Reader

if TYPE_CHECKING:
    from lakeguard.cli.rendering.show import DatasetPage

LAST_RUNS = 5


@click.command("show")
@click.argument("dataset")
@shared_options
def show_command(call: Call, dataset: str) -> None:
    """Show DATASET: definition, columns, rules, version, last runs, publications."""
    from lakeguard.cli.rendering.show import show_lines

    page = page_of(client_of(call), DatasetName(dataset))
    answer(call, page.to_data(), show_lines(page, datetime.now(UTC)))


def page_of(client: Client, asked: DatasetName) -> DatasetPage:
    from lakeguard.cli.rendering.show import DatasetPage

    reader = client.reader
    name = reader.dataset(asked).dataset_name
    status = next(item for item in reader.status() if item.dataset.dataset_name == name)
    definition = reader.definition(name)
    return DatasetPage(
        status=status,
        definition=definition,
        target=_target(client, definition.target),
        rules=reader.rules(name),
        runs=reader.runs(name, LAST_RUNS),
        moves=reader.pointer_moves(name),
        facts=_facts(reader, name),
        lineage=reader.column_lineage(name),
        published_columns=_published_columns(reader, status),
    )


def _published_columns(reader: Reader, status: DatasetStatus) -> tuple[str, ...] | None:
    if status.published is None:
        return None
    return reader.resolve(Address(dataset=status.dataset.dataset_name)).table_schema.names


def _facts(reader: Reader, name: DatasetName) -> RunFacts | None:
    made_by = next((row.run_id for row in reader.versions(name) if row.published), None)
    return None if made_by is None else reader.facts(made_by)


def _target(client: Client, name: str | None) -> TargetDefinition | None:
    if name is None:
        return None
    return next((t for t in client.registry.definitions().targets if t.target == name), None)


# ``lakeguard status``


@click.command("status")
@shared_options
def status_command(call: Call) -> None:
    """Show one line per dataset, worst first: health, version, age, last run, owner."""
    file = None if service_url() else load_settings(project_of(call), call.env).database.file
    if file is not None:
        require_whole(file, str(file))
    healths = worst_first([Health(item) for item in client_of(call).reader.status()])
    data = {"datasets": [item.to_data() for item in healths]}
    answer(call, data, status_lines(healths, datetime.now(UTC)))


# ``lakeguard profile``


@click.command("profile")
@click.argument("dataset", metavar="DATASET[@vN]")
@click.option("--again", is_flag=True, help="Compute it again even if there is one.")
@shared_options
def profile_command(call: Call, dataset: str, again: bool) -> None:
    """Show the column profiles of DATASET, of the published version or of vN.

    A stored profile is shown if there is one; else it is computed from the files, without Spark,
    and stored. Of columns that are tagged today only counts are shown.
    """
    from lakeguard.cli.rendering.profile import profile_lines
    from lakeguard.services.profile_version import profile_of

    with writing(call) as client:
        profile = profile_of(client, parse_address(dataset), again=again, working=working)
    answer(call, profile.to_data(), profile_lines(profile, this_screen()))
