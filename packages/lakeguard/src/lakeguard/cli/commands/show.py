"""``lakeguard show``: one dataset, whole."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.show import DatasetPage, show_lines
from lakeguard_sdk.client import Client
from lakeguard_sdk.definition import TargetDefinition
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.reading import RunFacts

LAST_RUNS = 5


@click.command("show")
@click.argument("dataset")
@shared_options
def command(call: Call, dataset: str) -> None:
    """Show what DATASET is: definition, columns, rules, version, last runs, what was published."""
    page = page_of(client_of(call), DatasetName(dataset))
    answer(call, page.to_data(), show_lines(page, datetime.now(UTC)))


def page_of(client: Client, asked: DatasetName) -> DatasetPage:
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
    )


def _facts(reader: Reader, name: DatasetName) -> RunFacts | None:
    made_by = next((row.run_id for row in reader.versions(name) if row.published), None)
    return None if made_by is None else reader.facts(made_by)


def _target(client: Client, name: str | None) -> TargetDefinition | None:
    if name is None:
        return None
    return next((t for t in client.registry.definitions().targets if t.target == name), None)
