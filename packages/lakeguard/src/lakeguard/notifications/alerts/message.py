"""An alert as a JSON message, with a delivery id per channel."""

from __future__ import annotations

import hashlib

from lakeguard.notifications.channels.message import Message
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.notifications import Alert

ABOUT = "alerts"


def message_of(alert: Alert, channel: str) -> Message:
    """The delivery id is derived from alert and channel, so it is unique and stable."""
    told = "\0".join((alert.organisation, alert.dedupe_key, channel))
    delivery = f"dlv_{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    text = canonical_json({**alert.to_data(), "delivery": delivery})
    return Message(ABOUT, delivery, text.encode(), serious=alert.severity is Severity.FAIL)
