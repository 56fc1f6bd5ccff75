"""``lakeguard sync``: the ledger on the lake, up to date."""

from __future__ import annotations

import click

from lakeguard.cli.layout import number, plural
from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer


@click.command("sync")
@shared_options
def command(call: Call) -> None:
    """Write to the ledger on the lake what the database has and the lake has not.

    Every command does so before it ends; this one is for when that failed.
    """
    synced = client_of(call).ledger.sync()
    told = f"{number(synced.rows)} rows in {plural(synced.batches, 'batch', 'batches')}"
    lines = [told if synced.batches else "the ledger was up to date", f"head {synced.head}"]
    answer(call, synced.to_data(), lines)
