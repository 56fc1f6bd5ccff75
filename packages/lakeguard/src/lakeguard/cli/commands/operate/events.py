"""``lakeguard events``: list events, send pending ones, test a channel."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.notifications import events_lines, turns_lines
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.layout import Tone, strong, toned
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.model.notifications import EventKind

KINDS = [kind.value for kind in EventKind if kind is not EventKind.TEST]


@click.group("events")
def events_command() -> None:
    """List events, send pending ones, test a channel."""


@events_command.command("list")
@click.option("--since", metavar="TIME", help="A duration such as 7d, a day, or a time.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1), help="Maximum number."
)
@shared_options
def listing(call: Call, since: str | None, kind: str | None, limit: int) -> None:
    """List events, newest first, with their delivery by each channel."""
    begin = None if since is None else moment_of(since, datetime.now(UTC))
    chosen = None if kind is None else EventKind(kind)
    rows = client_of(call).events.rows(since=begin, kind=chosen, limit=limit)
    answer(call, {"events": [row.to_data() for row in rows]}, events_lines(rows))


@events_command.command("send")
@click.option("--again", is_flag=True, help="Also retry those whose attempts are exhausted.")
@shared_options
def send(call: Call, again: bool) -> int:
    """Send pending events now. Exit 1 if a channel did not accept all of them.

    Every command sends its own events before it exits, and the dispatcher sends those due.
    """
    turns = client_of(call).events.send(again=again)
    answer(call, {"channels": [turn.to_data() for turn in turns]}, turns_lines(turns, "event"))
    return 1 if any(turn.problem for turn in turns) else 0


@events_command.command("test")
@click.argument("channel")
@shared_options
def test(call: Call, channel: str) -> None:
    """Send a test event through CHANNEL, ignoring its filters; it is not stored."""
    made = client_of(call).events.test(channel)
    data = {"channel": channel, "event_id": made}
    answer(call, data, [f"{toned('✓ SENT', Tone.GOOD)}  {strong(channel)} took {made}"])
