"""Rendering of notifications and their delivery."""

from __future__ import annotations

from collections.abc import Sequence

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
    ChannelResult,
    DeliveryOutcome,
    Notification,
    NotificationRow,
    Topic,
)

_TONES = {
    DeliveryOutcome.SENT: Tone.GOOD,
    DeliveryOutcome.FAILED: Tone.WARN,
    DeliveryOutcome.DEAD: Tone.BAD,
}
_COLUMNS = {
    Topic.ALERT: ("RAISED", "KIND", "DATASET", "DELIVERY", "MESSAGE"),
    Topic.EVENT: ("HAPPENED", "KIND", "SUBJECT", "DELIVERY", "ID"),
    None: ("RAISED", "TOPIC", "KIND", "SUBJECT", "DELIVERY"),
}
_NONE = {
    Topic.ALERT: "no alerts",
    Topic.EVENT: "no events: they are recorded once a channel is configured",
    None: "no notifications",
}


def notification_lines(rows: Sequence[NotificationRow], topic: Topic | None) -> list[str]:
    """Newest first; ends with the command that retries exhausted deliveries, if there are any."""
    if not rows:
        return [_NONE[topic]]
    lines = table(_COLUMNS[topic], [_cells(row, topic) for row in rows])
    for each in Topic:
        dead = sum(
            delivery.outcome is DeliveryOutcome.DEAD
            for row in rows
            if row.notification.topic is each
            for delivery in row.deliveries
        )
        if dead:
            retry = f"lakeguard {each}s send --again"
            lines += ["", f"{plural(dead, each)} undeliverable. Next: {retry}"]
    return lines


def _cells(row: NotificationRow, topic: Topic | None) -> list[str]:
    found = row.notification
    raised, delivery = moment(found.raised_at), _delivery(row)
    if topic is None:
        return [raised, found.topic, _kind(found), escaped(found.subject), delivery]
    if isinstance(found, Alert):
        return [raised, _kind(found), found.dataset, delivery, escaped(found.message)]
    return [raised, _kind(found), escaped(found.subject), delivery, found.event_id]


def _delivery(row: NotificationRow) -> str:
    """The result of each channel, and pending channels."""
    waiting = () if isinstance(row, AlertRow) else row.waiting
    words = [
        toned(f"{each.channel} {each.outcome}", _TONES[each.outcome]) for each in row.deliveries
    ]
    words += [toned(f"{channel} pending", Tone.WARN) for channel in waiting]
    return ", ".join(words) or toned("-", Tone.QUIET)


def _kind(found: Notification) -> str:
    if not isinstance(found, Alert):
        return found.kind.value
    return toned(found.kind.value, Tone.BAD if found.severity is Severity.FAIL else Tone.WARN)


# Results of sending.


def no_channel_lines() -> list[str]:
    return ["lakeguard.toml defines no channel"]


def result_lines(results: Sequence[ChannelResult], topic: Topic) -> list[str]:
    return [line for result in results for line in _result(result, topic)]


def _result(result: ChannelResult, topic: Topic) -> list[str]:
    mark = toned("✗", Tone.BAD) if result.problem else toned("✓", Tone.GOOD)
    summary = f"{plural(result.sent, topic)} sent"
    summary += f", {result.failed:,} failed" if result.failed else ""
    summary += f", {result.waiting:,} pending" if result.waiting else ""
    problem = [f"  {escaped(result.problem)}"] if result.problem else []
    return [f"{mark} {strong(result.channel)}  {summary}", *problem]


def swept_lines(found: Sequence[Alert]) -> list[str]:
    if not found:
        return ["no new SLA breaches"]
    return [f"{_kind(alert)}  {strong(alert.dataset)}: {escaped(alert.message)}" for alert in found]
