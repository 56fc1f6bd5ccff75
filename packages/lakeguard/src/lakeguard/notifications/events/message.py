"""An event as a CloudEvents 1.0 JSON message, with the same id for every channel."""

from __future__ import annotations

from datetime import datetime
from secrets import token_hex

from lakeguard.notifications.channels.message import Message
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.model.notifications import (
    CONTENT_TYPE,
    Event,
    EventKind,
    event_id,
)

ABOUT = "events"


def message_of(event: Event) -> Message:
    body = canonical_json(event.to_cloud()).encode()
    return Message(ABOUT, event.event_id, body, content_type=CONTENT_TYPE)


def trial(channel: str, org_id: str, actor: str, at: datetime) -> Event:
    """A test event, which is not stored."""
    return Event(
        event_id=event_id(org_id, EventKind.TEST, token_hex(16)),
        kind=EventKind.TEST,
        organisation=org_id,
        subject=f"channel/{channel}",
        data={"actor": actor},
        happened_at=at,
    )
