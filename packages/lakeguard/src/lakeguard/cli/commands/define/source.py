"""``lakeguard source``: add and list sources."""

from __future__ import annotations

import getpass
import glob
from datetime import UTC, datetime
from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.source import added_lines, sources_lines
from lakeguard.cli.session import client_of, project_of
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.cli.terminal.shell_patterns import source_path
from lakeguard.services.draft_rules import inspect_and_suggest
from lakeguard.services.propose_definition import key_rules, propose, write_new
from lakeguard.settings import load_settings
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.model.definitions import FromSource

UNASSIGNED = "unassigned"


@click.group("source")
def source_command() -> None:
    """Add a source from its files, or list registered sources."""


@source_command.command("add")
@click.argument("name")
@click.argument("pattern", nargs=-1, required=True)
@click.option("--owner", metavar="OWNER", help="Owner; default: your user name.")
@click.option("--domain", default=UNASSIGNED, show_default=True, help="Business domain.")
@click.option("--exact", is_flag=True, help="Read exactly this file, whatever its name is.")
@shared_options
def add(
    call: Call, name: str, pattern: tuple[str, ...], owner: str | None, domain: str, exact: bool
) -> None:
    """Inspect the files of PATTERN and write definitions of a source and of bronze.NAME.

    PATTERN matches CSV, JSON lines or Parquet files, or is the folder of a Delta table; it may be
    in an object store: 's3://BUCKET/FOLDER/*.csv'. Files that a shell expanded it to are taken for
    the pattern again, and so is one file with a date or a long number in its name. The definition
    includes rules that all inspected rows satisfy. Nothing is registered yet, and no file is
    overwritten.
    """
    dataset = DatasetName(f"{Layer.BRONZE}.{name}")
    folder = project_of(call)
    settings = load_settings(folder, call.env)
    settings.reach_lake()
    lake = settings.lake
    path = source_path(pattern, Path.cwd(), lake, exact=exact)
    with working(f"inspecting {path}"):
        sketch, found = inspect_and_suggest(path, lake, key_rules, datetime.now(UTC))
    definitions = propose(
        dataset, path, sketch, owner=owner or getpass.getuser(), domain=domain, suggested=found
    )
    written = write_new(folder, definitions, suggested=found)
    data = {
        "dataset": dataset,
        "path": path,
        "sketch": sketch.to_data(),
        "files": written,
        "suggested": [item.to_data() for item in found],
    }
    lines = added_lines(dataset, path, sketch, written, len(found))
    if len(pattern) == 1 and glob.has_magic(path) and not glob.has_magic(pattern[0]):
        lines.insert(1, "  later files of this pattern are read too; --exact reads this file alone")
    answer(call, data, lines)


@source_command.command("list")
@shared_options
def listing(call: Call) -> None:
    """List the registered sources, and the datasets that read them."""
    known = client_of(call).registry.definitions()
    readers: dict[str, list[DatasetName]] = {}
    for dataset in known.datasets:
        if isinstance(dataset.build, FromSource):
            readers.setdefault(dataset.build.source, []).append(dataset.dataset)
    data = [
        {**source.to_data(), "read_by": readers.get(source.source, [])} for source in known.sources
    ]
    answer(call, {"sources": data}, sources_lines(known.sources, readers))
