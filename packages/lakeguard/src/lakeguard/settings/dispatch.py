"""How long an attempt may be silent, how often a task is tried, and how soon again."""

from __future__ import annotations

from datetime import timedelta

from lakeguard_sdk.noun import Noun


class DispatchSettings(Noun):
    lease_seconds: int = 120
    """An attempt that is not heard of for so long is over."""
    heartbeat_seconds: int = 30
    """So often a worker is heard of."""
    attempts: int = 3
    """So often a task is tried, unless its job says otherwise."""
    backoff_first_seconds: int = 30
    """After a failure that may pass; it doubles with each attempt."""
    backoff_longest_seconds: int = 600
    tick_seconds: int = 5
    """So often the dispatcher looks what is due."""
    quiet_seconds: int = 10
    """A file that looked the same for so long is whole."""

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)
