"""What a channel is handed: the same bytes however often an alert is tried."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from lakeguard_sdk.alerting import Alert
from lakeguard_sdk.canonical import canonical_json


@dataclass(frozen=True)
class Message:
    """An alert on its way by one channel.

    ``delivery`` is made of what is told and of the channel, so that a receiver who has seen it can
    drop a repeat; no other alert and no other channel has it.
    """

    alert: Alert
    delivery: str
    body: bytes
    """One JSON object in one line, without the line end."""


def message_of(alert: Alert, channel: str) -> Message:
    told = "\0".join((alert.organisation, alert.dedupe_key, channel))
    delivery = f"dlv_{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    text = canonical_json({**alert.to_data(), "delivery": delivery})
    return Message(alert, delivery, text.encode())


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Of the time and the body together: neither can be exchanged for another."""
    signed = b".".join((timestamp.encode(), body))
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
