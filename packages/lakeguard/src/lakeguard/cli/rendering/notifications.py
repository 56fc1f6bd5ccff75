"""Rendering of alerts, events and their delivery."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard.cli.terminal.layout import (
    Tone,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertRow,
    ChannelDelivery,
    ChannelResult,
    DeliveryOutcome,
    EventRow,
)

_TONES = {
    DeliveryOutcome.SENT: Tone.GOOD,
    DeliveryOutcome.FAILED: Tone.WARN,
    DeliveryOutcome.DEAD: Tone.BAD,
}


def turns_lines(turns: Sequence[ChannelResult], noun: str) -> list[str]:
    if not turns:
        return ["lakeguard.toml defines no channel"]
    return [line for turn in turns for line in _turn(turn, noun)]


def delivery_text(tellings: Sequence[ChannelDelivery], waiting: Sequence[str] = ()) -> str:
    """Delivery result of each channel, and pending channels."""
    words = [toned(f"{each.channel} {each.outcome}", _TONES[each.outcome]) for each in tellings]
    words += [toned(f"{channel} pending", Tone.WARN) for channel in waiting]
    return ", ".join(words) or toned("-", Tone.QUIET)


def way_out(tellings: Iterable[ChannelDelivery], noun: str) -> list[str]:
    """The command that retries exhausted deliveries."""
    dead = sum(telling.outcome is DeliveryOutcome.DEAD for telling in tellings)
    if not dead:
        return []
    return ["", f"{plural(dead, noun)} undeliverable. Next: lakeguard {noun}s send --again"]


def _turn(turn: ChannelResult, noun: str) -> list[str]:
    mark = toned("✗", Tone.BAD) if turn.problem else toned("✓", Tone.GOOD)
    summary = f"{plural(turn.sent, noun)} sent"
    summary += f", {turn.failed:,} failed" if turn.failed else ""
    summary += f", {turn.waiting:,} pending" if turn.waiting else ""
    problem = [f"  {escaped(turn.problem)}"] if turn.problem else []
    return [f"{mark} {strong(turn.channel)}  {summary}", *problem]


# Alerts.


def alerts_lines(rows: Sequence[AlertRow]) -> list[str]:
    """Newest first; ends with the retry command if a delivery is exhausted."""
    if not rows:
        return ["no alerts"]
    cells = [
        [
            moment(row.alert.raised_at),
            _kind(row.alert),
            row.alert.dataset,
            delivery_text(row.tellings),
            escaped(row.alert.message),
        ]
        for row in rows
    ]
    lines = table(("RAISED", "KIND", "DATASET", "DELIVERY", "MESSAGE"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "alert")]


def swept_lines(found: Sequence[Alert]) -> list[str]:
    if not found:
        return ["no new SLA breaches"]
    return [f"{_kind(alert)}  {strong(alert.dataset)}: {escaped(alert.message)}" for alert in found]


def _kind(alert: Alert) -> str:
    tone = Tone.BAD if alert.severity is Severity.FAIL else Tone.WARN
    return toned(alert.kind.value, tone)


# Events.


def events_lines(rows: Sequence[EventRow]) -> list[str]:
    """Newest first; ends with the retry command if a delivery is exhausted."""
    if not rows:
        return ["no events: they are recorded once a channel is configured"]
    cells = [
        [
            moment(row.event.happened_at),
            row.event.kind.value,
            escaped(row.event.subject),
            delivery_text(row.tellings, row.waiting),
            row.event.event_id,
        ]
        for row in rows
    ]
    lines = table(("HAPPENED", "KIND", "SUBJECT", "DELIVERY", "ID"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "event")]
