"""``lakeguard deploy``: the graph of what is defined becomes the active one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.jobs import deployed_lines, unapplied_lines, versions_lines
from lakeguard.cli.session import client_of, project_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.services.unapplied import Unapplied, unapplied
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import NothingToDeploy


@click.command("deploy")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--to", metavar="VERSION", help="Go back to this version of the graph.")
@click.option("--reason", default="", help="Why; it stays beside the change.")
@click.option("--list", "listing", is_flag=True, help="List the versions there are.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), help="How many to list."
)
@shared_options
def deploy_command(
    call: Call, dry_run: bool, to: str | None, reason: str, listing: bool, limit: int
) -> None:
    """Make the graph of the datasets and jobs that are applied the active one.

    Definitions of the files that are not applied are no part of it, and are named. The same
    content is the same version, and deploying it again changes nothing. Only jobs of the
    active graph are started. Going back with --to cancels work of newer versions, and results of
    it that come late are not taken. VERSION is an id, or at least 8
    characters of a hash.
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
    """Whoever goes back asks for no files. Where there is nothing to deploy, it is told first
    what there would be."""
    found = Unapplied() if to is not None else unapplied(client, project_of(call))
    try:
        yield found
    except NothingToDeploy:
        for line in unapplied_lines(found)[:1]:
            note(line)
        raise
