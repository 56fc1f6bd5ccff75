"""Channels of alerts and events."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, UsageError


class UnknownChannel(UsageError):
    """Name a channel of ``lakeguard.toml``: alerts have theirs as entries ``[[alerts.channel]]``,
    events as ``[[events.channel]]``."""

    code = "LG-1401"
    what = "there is no channel {channel!r}{hint} ({known})"
    next_command = "lakeguard doctor"


class AlertNotSent(EngineError):
    """The channel did not take the alert; what waits for it is kept and tried again."""

    code = "LG-5201"
    what = "channel {channel} did not take the alert: {reason}"
    next_command = "look at the channel in lakeguard.toml, then: lakeguard alerts test {channel}"


class EventNotSent(EngineError):
    """The channel did not take the event; what waits for it is kept and tried again."""

    code = "LG-5202"
    what = "channel {channel} did not take the event: {reason}"
    next_command = "look at the channel in lakeguard.toml, then: lakeguard events test {channel}"
