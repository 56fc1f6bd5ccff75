"""``lakeguard diff``: compare two runs, or two versions."""

from __future__ import annotations

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.profile import profile_diff_lines
from lakeguard.cli.rendering.run_diff import side_by_side_lines
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import working
from lakeguard.insight.comparison.profiles import compare_profiles
from lakeguard.services.profile_version import profile_of
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.errors import NotComparable

_RUN = "run_"


@click.command("diff")
@click.argument("before", metavar="RUN|DATASET@vN")
@click.argument("after", metavar="RUN|DATASET@vN")
@click.option("--all", "every", is_flag=True, help="Include what is the same.")
@shared_options
def diff_command(call: Call, before: str, after: str, every: bool) -> None:
    """Compare two runs of a dataset, differences first, or the profiles of two versions.

    Runs: row counts, checks with both values, rules, policies, inputs, columns, build and verdict.
    Versions: row counts and column profiles; a missing profile is computed.
    """
    if before.startswith(_RUN) and after.startswith(_RUN):
        _runs(call, before, after, every=every)
        return
    if "@" in before and "@" in after:
        _versions(call, before, after, every=every)
        return
    raise click.UsageError(
        "name two runs, whose ids `lakeguard runs` lists, or two versions as DATASET@v3 DATASET@v7"
    )


def _runs(call: Call, before: str, after: str, *, every: bool) -> None:
    found = client_of(call).history.side_by_side(before, after)
    answer(call, {"diff": found.to_data()}, side_by_side_lines(found, every=every))


def _versions(call: Call, before: str, after: str, *, every: bool) -> None:
    addresses = [parse_address(text) for text in (before, after)]
    old, new = (address.dataset for address in addresses)
    if old != new:
        raise NotComparable(before=before, after=after, dataset=old, other=new)
    with writing(call) as client:
        profiles = [profile_of(client, address, working=working) for address in addresses]
    found = compare_profiles(*profiles)
    answer(call, {"diff": found.to_data()}, profile_diff_lines(found, every=every))
