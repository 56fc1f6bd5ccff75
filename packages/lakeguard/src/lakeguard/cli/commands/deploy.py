"""``lakeguard deploy``: the graph of what is defined becomes the active one."""

from __future__ import annotations

import click

from lakeguard.cli.opening import client_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.graphs import deployed_lines, versions_lines


@click.command("deploy")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--to", metavar="VERSION", help="Go back to this version of the graph.")
@click.option("--reason", default="", help="Why; it stays beside the change.")
@click.option("--list", "listing", is_flag=True, help="List the versions there are.")
@shared_options
def command(call: Call, dry_run: bool, to: str | None, reason: str, listing: bool) -> None:
    """Make the graph of the datasets and jobs that are applied the active one.

    The same content is the same version, and deploying it again changes nothing. Only jobs of the
    active graph are started. Going back with --to cancels work of newer versions, and results of
    it that come late are not taken. VERSION is an id, or at least 8
    characters of a hash.
    """
    if listing:
        versions = client_of(call).jobs.dag_versions()
        data = {"versions": [version.to_data() for version in versions]}
        answer(call, data, versions_lines(versions))
        return
    if dry_run:
        planned = client_of(call).jobs.deploy_plan(to)
        answer(call, {"deployed": planned.to_data()}, deployed_lines(planned, dry_run=True))
        return
    with writing(call) as client:
        done = client.jobs.deploy(reason, to=to)
    answer(call, {"deployed": done.to_data()}, deployed_lines(done))
