"""``lakeguard diff``: two runs side by side."""

from __future__ import annotations

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.side_by_side import side_by_side_lines

_RUN = "run_"


@click.command("diff")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@click.option("--all", "every", is_flag=True, help="List what is the same, too.")
@shared_options
def command(call: Call, before: str, after: str, every: bool) -> None:
    """Show two runs of a dataset side by side, differences first.

    Rows, checks with both values, rules, policies, inputs, columns, build and verdict.
    """
    if before.startswith(_RUN) and after.startswith(_RUN):
        _runs(call, before, after, every=every)
        return
    raise click.UsageError("name two runs, as lakeguard runs lists them")


def _runs(call: Call, before: str, after: str, *, every: bool) -> None:
    found = client_of(call).memory.side_by_side(before, after)
    answer(call, {"diff": found.to_data()}, side_by_side_lines(found, every=every))
