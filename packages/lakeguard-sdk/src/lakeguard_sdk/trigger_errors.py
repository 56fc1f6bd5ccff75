"""Errors of triggers: what is no event, and what cannot be one."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


class NoEvent(UsageError):
    """Send one event of CloudEvents 1.0 or of EventBridge, as an object of JSON."""

    code = "LG-1641"
    what = "this is no event: {reason}"
    next_command = "lakeguard jobs list, which says what is waited for"


class SecretEvent(UsageError):
    """Send the event without the secret: events are kept, and shown to whoever may read them."""

    code = "LG-1642"
    what = "the event holds what looks like a secret; nothing of it was kept"
    next_command = "send the event without it"


class EventDiffers(Refused):
    """Give another event another id: one that came before stays as it was."""

    code = "LG-3341"
    what = "event {event} of {source} came before with other content"
    next_command = "send it under an id of its own"
