"""``lakeguard alerts``: list alerts, send pending ones, test a channel."""

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
    """List alerts, send pending ones, test a channel."""


@alerts_command.command("list")
@click.option("--since", metavar="TIME", help="A duration such as 7d, a day, or a time.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), help="Maximum number."
)
@shared_options
def listing(call: Call, since: str | None, kind: str | None, limit: int) -> None:
    """List alerts, newest first, with their delivery by each channel."""
    begin = None if since is None else moment_of(since, datetime.now(UTC))
    chosen = None if kind is None else AlertKind(kind)
    rows = client_of(call).alerts.rows(since=begin, kind=chosen, limit=limit)
    answer(call, {"alerts": [row.to_data() for row in rows]}, alerts_lines(rows))


@alerts_command.command("send")
@click.option("--again", is_flag=True, help="Also retry those whose attempts are exhausted.")
@shared_options
def send(call: Call, again: bool) -> int:
    """Send pending alerts now. Exit 1 if a channel did not accept all of them.

    Every command sends its own alerts before it exits; use this if that failed.
    """
    turns = client_of(call).alerts.send(again=again)
    answer(call, {"channels": [turn.to_data() for turn in turns]}, turns_lines(turns, "alert"))
    return 1 if any(turn.problem for turn in turns) else 0


@alerts_command.command("sweep")
@shared_options
def sweep(call: Call) -> None:
    """Raise an alert for each new SLA breach.

    Every command that writes does this, too; if none runs, call it from cron.
    """
    with writing(call, sweep=False) as client:
        found = client.alerts.sweep()
    answer(call, {"raised": [alert.to_data() for alert in found]}, swept_lines(found))


@alerts_command.command("test")
@click.argument("channel")
@shared_options
def test(call: Call, channel: str) -> None:
    """Send a test alert through CHANNEL, ignoring its filters; it is not stored."""
    delivery = client_of(call).alerts.test(channel)
    data = {"channel": channel, "delivery": delivery}
    answer(call, data, [f"{toned('✓ SENT', Tone.GOOD)}  {strong(channel)} took {delivery}"])
