"""``lakeguard waive``: downgrade a failing check to a warning for a limited time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import click

from lakeguard.cli.options import Call, shared_options, written
from lakeguard.cli.rendering.waivers import waivers_lines
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    moment,
    strong,
    toned,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.dataset_name import DatasetName


@click.command("waive")
@click.argument("dataset")
@click.argument("check")
@click.option(
    "--until",
    required=True,
    metavar="DATE",
    help="Last day (UTC), or a time with its zone; at most 90 days from now.",
)
@click.option("--reason", callback=written, required=True, help="Reason, recorded in the ledger.")
@click.option(
    "--approver", callback=written, required=True, metavar="NAME", help="Who approves it."
)
@shared_options
def waive_command(
    call: Call, dataset: str, check: str, until: str, reason: str, approver: str
) -> None:
    """Downgrade CHECK, a rule of DATASET or an ALERT policy, to a warning until DATE.

    The waiver covers the last failure of CHECK and ends with it, when CHECK passes again, or at
    DATE. Every decision that uses it names its approver. A BLOCK policy cannot be waived, nor a
    check that could not be judged.
    """
    end = end_of(until)
    with writing(call) as client:
        row = client.operations.waive(
            DatasetName(dataset), check, approver=approver, reason=reason, until=end
        )
    mark = toned("! WAIVED", Tone.WARN)
    summary = f"{row.waiver.check_kind} {row.waiver.check_id}, until {moment(row.waiver.until)}"
    revoke = f'lakeguard waivers --revoke {row.waiver.waiver_id} --reason "…"'
    covered = escaped(row.failure) or "no failure yet; it ends once one is over"
    lines = [
        f"{mark}  {strong(row.dataset)}{GAP}{summary}",
        f"  covers: {covered}",
        f"Next: {call.repeated_in(revoke)}",
    ]
    answer(call, {"waiver": row.to_data()}, lines)


def end_of(text: str) -> datetime:
    """The end of a day, or the time itself."""
    try:
        if "T" not in text:
            return datetime.combine(date.fromisoformat(text) + timedelta(days=1), time(), UTC)
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            "write a day such as 2027-01-31, or a time such as 2027-01-31T18:00Z",
            param_hint="--until",
        ) from None
    if found.tzinfo is None:
        raise click.BadParameter(
            "a time needs its zone, as in 2027-01-31T18:00Z", param_hint="--until"
        )
    return found


# ``lakeguard waivers``


@click.command("waivers")
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Include expired and revoked ones.")
@click.option("--revoke", metavar="WAIVER", help="Revoke this waiver now.")
@click.option("--reason", callback=written, help="Reason of --revoke, recorded in the ledger.")
@shared_options
def waivers_command(
    call: Call, dataset: str | None, every: bool, revoke: str | None, reason: str | None
) -> None:
    """List active waivers, of all datasets or of DATASET; or revoke one."""
    if revoke is not None:
        _revoke(call, revoke, reason)
        return
    if reason is not None:
        raise click.UsageError("--reason goes with --revoke")
    now = datetime.now(UTC)
    name = None if dataset is None else DatasetName(dataset)
    found = client_of(call).reader.waivers(name)
    shown = [row for row in found if every or row.is_active(now)]
    data = {"waivers": [row.to_data() for row in shown]}
    answer(call, data, waivers_lines(shown, now))


def _revoke(call: Call, waiver_id: str, reason: str | None) -> None:
    if reason is None:
        raise click.UsageError('--revoke needs --reason "…"')
    with writing(call) as client:
        row = client.operations.revoke_waiver(waiver_id, reason)
    summary = f"{row.waiver.check_kind} {row.waiver.check_id} applies again"
    line = f"{toned('✓ REVOKED', Tone.GOOD)}  {strong(row.dataset)}{GAP}{summary}"
    answer(call, {"waiver": row.to_data()}, [line])
