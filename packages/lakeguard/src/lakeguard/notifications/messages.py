"""Messages of notifications: the same bytes on every attempt."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.notifications import (
    CONTENT_TYPE,
    Alert,
    AlertKind,
    Event,
    EventKind,
    Notification,
    Topic,
    alert_key,
    event_id,
)

JSON = "application/json"
_TEST_DATASET = DatasetName("bronze.alert_test")


@dataclass(frozen=True)
class Message:
    """A notification for one channel.

    ``delivery`` is derived from the content, so a receiver can drop duplicates.
    """

    logger: str
    """Name of the logger that the log transport writes to."""
    delivery: str
    body: bytes
    """One JSON object on one line, without a newline."""
    serious: bool = False
    content_type: str = JSON
    title: str = ""
    text: str = ""
    """For channels that people read: what happened in a line, and the facts below it."""


def message_of(notification: Notification, channel: str) -> Message:
    """An alert has a delivery id per channel; an event has its own id in every channel."""
    logger = f"lakeguard.{notification.topic}s"
    if isinstance(notification, Event):
        body = canonical_json(notification.to_cloud()).encode()
        return Message(logger, notification.event_id, body, content_type=CONTENT_TYPE)
    key = "\0".join((notification.organisation, notification.dedupe_key, channel))
    delivery = f"dlv_{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    text = canonical_json({**notification.to_data(), "delivery": delivery})
    return Message(
        logger,
        delivery,
        text.encode(),
        serious=notification.severity is Severity.FAIL,
        title=_title(notification),
        text=_text(notification),
    )


def _title(alert: Alert) -> str:
    return f"{alert.kind.upper()}: {alert.dataset}"


def _text(alert: Alert) -> str:
    """What happened, then one fact per line, then the command that explains it."""
    facts = [
        ("check", alert.check),
        ("severity", alert.severity.value),
        ("domain", alert.domain),
        ("owner", alert.owner),
        ("run", alert.run_id),
        ("at", f"{alert.raised_at:%Y-%m-%d %H:%M:%S} UTC"),
    ]
    lines = [f"{name}: {value}" for name, value in facts if value]
    more = (
        [] if alert.kind is AlertKind.TEST else [f"lakeguard why {alert.run_id or alert.dataset}"]
    )
    return "\n".join([alert.message, "", *lines, *more])


def test_message(topic: Topic, channel: str, org_id: str, actor: str, at: datetime) -> Message:
    """The message of a test notification, which is not stored."""
    make = _test_alert if topic is Topic.ALERT else _test_event
    return message_of(make(channel, org_id, actor, at), channel)


def _test_alert(channel: str, org_id: str, actor: str, at: datetime) -> Alert:
    alert_id = new_id("alr")
    return Alert(
        alert_id=alert_id,
        kind=AlertKind.TEST,
        severity=Severity.WARN,
        organisation=org_id,
        dataset=_TEST_DATASET,
        dataset_id="",
        layer=_TEST_DATASET.layer,
        domain="test",
        owner=actor,
        message=f"{actor} tries the channel {channel}; nothing happened",
        raised_at=at,
        dedupe_key=alert_key(AlertKind.TEST, alert_id),
    )


def _test_event(channel: str, org_id: str, actor: str, at: datetime) -> Event:
    return Event(
        event_id=event_id(org_id, EventKind.TEST, token_hex(16)),
        kind=EventKind.TEST,
        organisation=org_id,
        subject=f"channel/{channel}",
        data={"actor": actor},
        happened_at=at,
    )
