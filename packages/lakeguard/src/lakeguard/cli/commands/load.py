"""``lakeguard load``: rows of tables become the registry's definitions, all or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from lakeguard.cli.opening import client_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.plan import applied_lines, plan_lines
from lakeguard.registry.findings import Findings
from lakeguard.registry.rows import Row, read_rows
from lakeguard.registry.rows.assembling import Assembly
from lakeguard.registry.rows.rendering import render_row_errors
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import InvalidDefinitions, InvalidRows
from lakeguard_sdk.planning import Plan


@click.command("load")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@shared_options
def command(call: Call, files: tuple[Path, ...], dry_run: bool) -> None:
    """Make the rows of FILES definitions of the registry, in one transaction.

    FILES are .sql files of INSERT statements, which are read and never run, .csv files named after
    their table, .json and .jsonl files. Rows may say a part of what is registered: the rest stays.
    The same rows again change nothing.
    """
    with _shown_at_rows():
        rows = _rows(files)
    if dry_run:
        plan = _plan(client_of(call), rows)
        answer(call, {"plan": plan.to_data()}, plan_lines(plan, follow="lakeguard load FILES"))
        return
    with writing(call) as client:
        plan = _plan(client, rows)
        applied = client.registry.apply(plan)
    data = {"applied": applied.to_data(), "plan": plan.to_data()}
    answer(call, data, applied_lines(plan, applied))


def _rows(files: Iterable[Path]) -> list[Row]:
    """What cannot be read is told before anything is held against it."""
    findings = Findings()
    rows = read_rows(list(files), findings)
    findings.raise_if_any()
    return rows


def _plan(client: Client, rows: list[Row]) -> Plan:
    with _shown_at_rows():
        findings = Findings()
        assembly = Assembly(rows, client.registry.definitions(), findings)
        findings.raise_if_any()
        try:
            return client.registry.plan(assembly.definitions)
        except InvalidDefinitions as invalid:
            raise InvalidDefinitions(map(assembly.placed, invalid.errors)) from None


@contextmanager
def _shown_at_rows() -> Iterator[None]:
    """Whatever mistakes are raised inside carry the lines of the files they stand in."""
    try:
        yield
    except InvalidDefinitions as invalid:
        told = InvalidRows(invalid.errors)
        told.add_note("\n".join(render_row_errors(invalid.errors)))
        raise told from None
