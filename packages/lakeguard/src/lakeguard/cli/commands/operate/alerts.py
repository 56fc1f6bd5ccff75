"""``lakeguard alerts``: what somebody should hear of, and whether he did."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.notifications import alerts_lines, swept_lines, turns_lines
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.layout import Tone, strong, toned
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.model.notifications import AlertKind

KINDS = [kind.value for kind in AlertKind if kind is not AlertKind.TEST]


@click.group("alerts")
def alerts_command() -> None:
    """Look at alerts, send those that wait, and try a channel."""


@alerts_command.command("list")
@click.option("--since", metavar="TIME", help="Raised since 7d ago, since a day, or since a time.")
@click.option("--kind", type=click.Choice(KINDS), help="Only of this kind.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="How many.")
@shared_options
def listing(call: Call, since: str | None, kind: str | None, limit: int) -> None:
    """List what was raised, the latest first, and what became of it by each channel."""
    begin = None if since is None else moment_of(since, datetime.now(UTC))
    chosen = None if kind is None else AlertKind(kind)
    rows = client_of(call).alerts.rows(since=begin, kind=chosen, limit=limit)
    answer(call, {"alerts": [row.to_data() for row in rows]}, alerts_lines(rows))


@alerts_command.command("send")
@click.option("--again", is_flag=True, help="Also what was given up after many attempts.")
@shared_options
def send(call: Call, again: bool) -> int:
    """Send what waits, now. Exit 1 if a channel did not take all of it.

    Every command sends what it raised before it ends; this one is for when that failed.
    """
    turns = client_of(call).alerts.send(again=again)
    answer(call, {"channels": [turn.to_data() for turn in turns]}, turns_lines(turns, "alert"))
    return 1 if any(turn.problem for turn in turns) else 0


@alerts_command.command("sweep")
@shared_options
def sweep(call: Call) -> None:
    """Raise an alert for each promise about time that is broken and was not told of yet.

    Every command that writes does so too; where none comes, a timer may call this one.
    """
    with writing(call, sweep=False) as client:
        found = client.alerts.sweep()
    answer(call, {"raised": [alert.to_data() for alert in found]}, swept_lines(found))


@alerts_command.command("test")
@click.argument("channel")
@shared_options
def test(call: Call, channel: str) -> None:
    """Send a test alert by CHANNEL, whatever its filters; it is kept nowhere."""
    delivery = client_of(call).alerts.test(channel)
    data = {"channel": channel, "delivery": delivery}
    answer(call, data, [f"{toned('✓ SENT', Tone.GOOD)}  {strong(channel)} took {delivery}"])
