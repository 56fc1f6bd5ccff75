"""``lakeguard profile``: what the values of a version look like."""

from __future__ import annotations

import click

from lakeguard.cli.opening import writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.profiling import profile_of
from lakeguard.cli.screen import this_screen
from lakeguard.cli.views.profile import profile_lines
from lakeguard_sdk.names import parse_address


@click.command("profile")
@click.argument("dataset", metavar="DATASET[@vN]")
@click.option("--again", is_flag=True, help="Take it anew, though there is one.")
@shared_options
def command(call: Call, dataset: str, again: bool) -> None:
    """Show what the values of DATASET look like, column by column, in what is published or in vN.

    A profile that was taken before is shown; otherwise it is taken from the files, without Spark,
    and kept. Columns that carry a tag today are only counted, whenever it was kept.
    """
    with writing(call) as client:
        profile = profile_of(client, parse_address(dataset), again=again)
    answer(call, profile.to_data(), profile_lines(profile, this_screen()))
