"""Errors of events: a channel that does not carry."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError


class EventNotSent(EngineError):
    """The channel did not take the event; what waits for it is kept and tried again."""

    code = "LG-5202"
    what = "channel {channel} did not take the event: {reason}"
    next_command = "look at the channel in lakeguard.toml, then: lakeguard events test {channel}"
