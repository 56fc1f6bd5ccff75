"""``lakeguard deploy``: activate the graph of datasets and jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.jobs import deployed_lines, unapplied_lines, versions_lines
from lakeguard.cli.session import (
    client_of,
    folder_of,
    writing,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.services.unapplied import Unapplied, unapplied
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import NothingToDeploy


@click.command("deploy")
@click.option("--dry-run", is_flag=True, help="Show what would change without changing it.")
@click.option("--to", metavar="VERSION", help="Roll back to this version of the graph.")
@click.option("--reason", callback=written, default="", help="Reason, recorded with the change.")
@click.option("--list", "listing", is_flag=True, help="List deployed versions.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of versions.",
)
@shared_options
def deploy_command(
    call: Call, dry_run: bool, to: str | None, reason: str, listing: bool, limit: int
) -> None:
    """Activate the graph of the applied datasets and jobs.

    Definitions in files that are not applied are left out and listed. The same content is the same
    version, so deploying it again changes nothing. Only jobs of the active graph are started.
    Rolling back with --to cancels tasks of newer versions; their late results are rejected. VERSION
    is an id, or at least 8 characters of a hash.
    """
    if listing:
        versions = client_of(call).jobs.dag_versions(limit=limit)
        data = {"versions": [version.to_data() for version in versions]}
        answer(call, data, versions_lines(versions))
        return
    if dry_run:
        client = client_of(call)
        with _compared(call, client, to) as found:
            done = client.jobs.deploy_plan(to)
    else:
        with writing(call) as client, _compared(call, client, to) as found:
            done = client.jobs.deploy(reason, to=to)
    lines = deployed_lines(done, unapplied_lines(found), dry_run=dry_run)
    answer(call, {"deployed": done.to_data(), "unapplied": found.to_data()}, lines)


@contextmanager
def _compared(call: Call, client: Client, to: str | None) -> Iterator[Unapplied]:
    """Unapplied definitions; none for a rollback. Noted before ``NothingToDeploy`` is raised."""
    found = Unapplied() if to is not None else unapplied(client, folder_of(call))
    try:
        yield found
    except NothingToDeploy:
        for line in unapplied_lines(found)[:1]:
            note(line)
        raise
