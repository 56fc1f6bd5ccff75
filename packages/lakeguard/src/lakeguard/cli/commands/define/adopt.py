"""``lakeguard adopt``: turn an existing Delta table into a governed dataset."""

from __future__ import annotations

import getpass
import shlex
from datetime import UTC, datetime
from pathlib import Path

import click

from lakeguard.cli.commands.build.run import EXIT_CODES
from lakeguard.cli.commands.define.source import UNASSIGNED
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.source import Adopted, adopted_lines
from lakeguard.cli.session import person, project_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.services.adopt_table import (
    basic_rules,
    definition_of,
    proposed_definition,
    register,
)
from lakeguard.services.draft_rules import inspect_and_suggest
from lakeguard.services.propose_definition import write_new
from lakeguard.services.run_task import published_version
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import AlreadyGoverned, OtherTable
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.storage.storage import LAKE_SCHEMES


@click.command("adopt")
@click.argument("dataset")
@click.argument("path")
@click.option("--owner", metavar="OWNER", help="Owner; default: your user name.")
@click.option("--domain", default=UNASSIGNED, show_default=True, help="Business domain.")
@shared_options
def adopt_command(call: Call, dataset: str, path: str, owner: str | None, domain: str) -> int:
    """Adopt the Delta table at PATH, a folder or s3://BUCKET/FOLDER, as the governed DATASET, if
    the gate allows it.

    Writes a definition with rules that the table satisfies, unless there is one, registers it, and
    checks every row. If allowed, one commit that changes no data file makes the table version 1. If
    blocked (exit 3), the table is unchanged: edit the definition and adopt again.
    """
    name, location = DatasetName(dataset), _location(path)
    folder = project_of(call)
    with writing(call) as client:
        _refuse_governed(client, name)
        adopted = _defined(call, client, name, location, owner or getpass.getuser(), domain)
        register(folder, client, name)
        with working(f"adopting {name}") as show_progress:
            worker = local_worker(
                client.for_worker(), spark_options=client.spark_options, progress=show_progress
            )
            task_id = client.operations.submit_adoption(name, person())
            result = worker.run_adoption(task_id)
        published = published_version(client, name)
    data = {**adopted.to_data(), "run": result.to_data(), "published": published}
    answer(call, data, adopted_lines(adopted, result, published))
    return EXIT_CODES[result.status]


def _location(path: str) -> str:
    if path.partition("://")[0] in LAKE_SCHEMES:
        return path.rstrip("/")
    return str(Path(path).resolve())


def _refuse_governed(client: Client, name: DatasetName) -> None:
    version = published_version(client, name)
    if version is not None:
        raise AlreadyGoverned(dataset=name, version=version)


def _defined(
    call: Call, client: Client, name: DatasetName, location: str, owner: str, domain: str
) -> Adopted:
    """The existing definition, or one proposed from all rows of the table."""
    folder = project_of(call)
    known = definition_of(folder, client, name)
    if known is not None and known.location != location:
        there = known.location or "its place in the lake"
        raise OtherTable(dataset=name, location=there, asked=location)
    table = client.operations.examine(location, name)
    if known is not None:
        return Adopted(dataset=name, location=location, commit=table.commit)
    with working(f"inspecting {location}"):
        sketch, found = inspect_and_suggest(
            location, location, basic_rules, datetime.now(UTC), whole=True
        )
    definition = proposed_definition(
        name, table, sketch, owner=owner, domain=domain, suggested=found
    )
    written = write_new(
        folder,
        Definitions(datasets=(definition,)),
        client.registry.plan,
        instead=f"adopt {name.layer}.ANOTHER-NAME {shlex.quote(location)}",
        suggested=found,
    )
    return Adopted(
        dataset=name,
        location=location,
        commit=table.commit,
        files=tuple(written),
        sketch=sketch,
        suggested=tuple(found),
    )
