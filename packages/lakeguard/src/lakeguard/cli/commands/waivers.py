"""``lakeguard waivers``: what is waived, by whom and until when."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.layout import GAP, Tone, strong, toned
from lakeguard.cli.opening import client_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.waivers import waivers_lines
from lakeguard_sdk.names import DatasetName


@click.command("waivers")
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Also those that are over or were taken back.")
@click.option("--revoke", metavar="WAIVER", help="Take this waiver back, now.")
@click.option("--reason", help="Why it is taken back; it stays in the ledger.")
@shared_options
def command(
    call: Call, dataset: str | None, every: bool, revoke: str | None, reason: str | None
) -> None:
    """List the waivers in force, of all datasets or of DATASET; or take one back."""
    if revoke is not None:
        _revoke(call, revoke, reason)
        return
    if reason is not None:
        raise click.UsageError("--reason goes with --revoke")
    now = datetime.now(UTC)
    name = None if dataset is None else DatasetName(dataset)
    found = client_of(call).reader.waivers(name)
    shown = [row for row in found if every or (row.revoked_at is None and row.waiver.in_force(now))]
    data = {"waivers": [row.to_data() for row in shown]}
    answer(call, data, waivers_lines(shown, now))


def _revoke(call: Call, waiver_id: str, reason: str | None) -> None:
    if reason is None:
        raise click.UsageError('--revoke needs --reason "…"')
    with writing(call) as client:
        row = client.operations.revoke_waiver(waiver_id, reason)
    said = f"{row.waiver.check_kind} {row.waiver.check_id} counts again"
    line = f"{toned('✓ TAKEN BACK', Tone.GOOD)}  {strong(row.dataset)}{GAP}{said}"
    answer(call, {"waiver": row.to_data()}, [line])
