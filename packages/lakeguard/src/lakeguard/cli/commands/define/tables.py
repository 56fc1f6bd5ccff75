"""``lakeguard load``: load definitions from table rows, atomically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.plan import applied_lines, plan_lines
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.layout import (
    Tone,
    indented,
    strong,
    toned,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.given_values.restore_rows import restored_rows
from lakeguard.registry.rows import Row, read_rows
from lakeguard.registry.rows.assemble import Assembly
from lakeguard.registry.rows.error_rendering import render_row_errors
from lakeguard.registry.rows.write_rows import csv_files
from lakeguard.registry.text.problems import Findings
from lakeguard.services.definition_counts import counted
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import AlreadyExists, InvalidDefinitions, InvalidRows
from lakeguard_sdk.model.given_values import GivenRow
from lakeguard_sdk.model.plan import Plan


@click.command("load")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--dry-run", is_flag=True, help="Show what would change without changing it.")
@shared_options
def load_command(call: Call, files: tuple[Path, ...], dry_run: bool) -> None:
    """Load definitions from the table rows in FILES, in one transaction.

    FILES are .sql files with INSERT statements, which are parsed and never executed, .csv files
    named after their table, .json and .jsonl files. Rows may cover a part of the registry; the rest
    is unchanged. Loading the same rows again changes nothing.
    """
    with _shown_at_rows():
        rows = _rows(files)
    if dry_run:
        plan, _ = _plan(client_of(call), rows)
        answer(call, {"plan": plan.to_data()}, plan_lines(plan, follow="lakeguard load FILES"))
        return
    with writing(call) as client:
        plan, given = _plan(client, rows)
        applied = client.registry.apply(plan, given=given)
    data = {"applied": applied.to_data(), "plan": plan.to_data()}
    answer(call, data, applied_lines(plan, applied))


def _rows(files: Iterable[Path]) -> list[Row]:
    """Syntax errors are reported before any validation."""
    findings = Findings()
    rows = read_rows(list(files), findings)
    findings.raise_if_any()
    return rows


def _plan(client: Client, rows: list[Row]) -> tuple[Plan, list[GivenRow]]:
    """The plan, and the rows by definition."""
    with _shown_at_rows():
        findings = Findings()
        registry = client.registry
        assembly = Assembly(rows, registry.definitions(), findings, registry.dataset_ids())
        findings.raise_if_any()
        try:
            return client.registry.plan(assembly.definitions), assembly.given
        except InvalidDefinitions as invalid:
            raise InvalidDefinitions(map(assembly.placed, invalid.errors)) from None


@contextmanager
def _shown_at_rows() -> Iterator[None]:
    """Errors raised inside carry the offending lines of the row files."""
    try:
        yield
    except InvalidDefinitions as invalid:
        error = InvalidRows(invalid.errors)
        error.add_note("\n".join(render_row_errors(invalid.errors)))
        raise error from None


# ``lakeguard export``

_FORMATS = ("rows", "yaml")


@click.command("export")
@click.argument("dest", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="yaml",
    show_default=True,
    help="Definition files with their SQL, or one CSV file per table.",
)
@shared_options
def export_command(call: Call, dest: Path, form: str) -> None:
    """Export the registry to the folder DEST, which must be new or empty.

    Applying or loading the exported files into the same registry changes nothing.
    """
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise AlreadyExists(place=str(dest), command="export ANOTHER-FOLDER")
    registry = client_of(call).registry
    definitions = registry.definitions()
    if form == "rows":
        rows = restored_rows(definitions, registry.dataset_ids(), registry.given_values())
        written = csv_files(rows)
    else:
        written = definition_files(definitions)
    for name, text in written.items():
        path = dest / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    dest.mkdir(parents=True, exist_ok=True)
    data = {"folder": str(dest), "format": form, "files": sorted(written)}
    answer(call, data, _lines(dest, form, counted(definitions), sorted(written)))


def _lines(dest: Path, form: str, what: str, written: list[str]) -> list[str]:
    done = f"{toned('✓ exported', Tone.GOOD)}  {strong(escaped(dest))}   {what}"
    back = "lakeguard apply" if form == "yaml" else f"lakeguard load {escaped(dest)}/*.csv"
    files = plural(len(written), "file")
    return [done, files, *indented([escaped(name) for name in written]), f"Next: {back}"]
