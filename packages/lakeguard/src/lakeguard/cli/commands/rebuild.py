"""``lakeguard rebuild``: the database from the lake alone."""

from __future__ import annotations

import click

from lakeguard.cli.layout import number
from lakeguard.cli.opening import project_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.progress import note
from lakeguard.plane import rebuild_embedded


@click.command("rebuild")
@click.option(
    "--replace", is_flag=True, help="Forget what the database holds of this organisation."
)
@shared_options
def command(call: Call, replace: bool) -> None:
    """Fill an empty database from the ledger on the lake.

    For when the database is lost, or was restored from a backup older than the ledger. Tables of
    others in the same schema are left alone. From then on this database owns the lake.
    """
    rebuilt = rebuild_embedded(project_of(call), env=call.env, replace=replace, progress=note)
    lines = [f"{number(rebuilt.rows)} rows of {number(rebuilt.batches)} batches restored"]
    if rebuilt.dropped_rows:
        lines.append(f"{number(rebuilt.dropped_rows)} rows of an unfinished batch were dropped")
    if rebuilt.undelivered_rows:
        lost = number(rebuilt.undelivered_rows)
        lines.append(f"{lost} rows that the ledger never got were in the database, and are gone")
    answer(call, rebuilt.to_data(), [*lines, f"head {rebuilt.head}", "Next: lakeguard verify"])
