"""Errors of alert and event channels."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, UsageError


class UnknownChannel(UsageError):
    """Name a channel of ``lakeguard.toml``: ``[[alerts.channel]]`` for alerts,
    ``[[events.channel]]`` for events."""

    code = "LG-1401"
    what = "unknown channel {channel!r}{hint} ({known})"
    next_command = "lakeguard doctor"


class AlertNotSent(EngineError):
    """The channel did not accept the alert; queued alerts are retried."""

    code = "LG-5201"
    what = "channel {channel} did not accept the alert: {reason}"
    next_command = "check the channel in lakeguard.toml, then: lakeguard alerts test {channel}"


class EventNotSent(EngineError):
    """The channel did not accept the event; queued events are retried."""

    code = "LG-5202"
    what = "channel {channel} did not accept the event: {reason}"
    next_command = "check the channel in lakeguard.toml, then: lakeguard events test {channel}"
