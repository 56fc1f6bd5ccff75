"""``lakeguard export``: the registry's definitions as files or as table rows."""

from __future__ import annotations

from pathlib import Path

import click

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, indented, plural, strong, toned
from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.plan import counted
from lakeguard.registry.exporting import definition_files
from lakeguard.registry.rows.writing import csv_files
from lakeguard_sdk.errors import AlreadyThere

_WRITERS = {"yaml": definition_files, "rows": csv_files}


@click.command("export")
@click.argument("dest", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(sorted(_WRITERS)),
    default="yaml",
    show_default=True,
    help="Definition files with their SQL, or a CSV file for each table.",
)
@shared_options
def command(call: Call, dest: Path, form: str) -> None:
    """Write all that is registered to the folder DEST, which is made or empty.

    The files applied, or the rows loaded, where they come from change nothing.
    """
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise AlreadyThere(place=str(dest), command="export ANOTHER-FOLDER")
    definitions = client_of(call).registry.definitions()
    written = _WRITERS[form](definitions)
    for name, text in written.items():
        path = dest / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    dest.mkdir(parents=True, exist_ok=True)
    data = {"folder": str(dest), "format": form, "files": sorted(written)}
    answer(call, data, _lines(dest, form, counted(definitions), sorted(written)))


def _lines(dest: Path, form: str, what: str, written: list[str]) -> list[str]:
    done = f"{toned('✓ exported', Tone.GOOD)}  {strong(inert(dest))}   {what}"
    back = "lakeguard apply" if form == "yaml" else f"lakeguard load {inert(dest)}/*.csv"
    files = plural(len(written), "file")
    return [done, files, *indented([inert(name) for name in written]), f"Next: {back}"]
