"""Wishes to start a job, and why somebody or something has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from lakeguard_sdk.core.enums import CauseKind
from lakeguard_sdk.errors import LaunchRefused
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.tasks import Cause

__all__ = ["Cause", "CauseKind", "Wish"]


@dataclass(frozen=True)
class Wish:
    """To start a job once: the same job and key again are the same task."""

    job_id: str
    key: str
    cause: Cause
    actor: str
    parameters: dict[str, str] = field(default_factory=dict)
    """What the launch sets; it wins over the job's own settings."""
    day: date | None = None
    window: Window | None = None
    reserved: bool = False
    """Who wishes it runs it himself: workers take it only where he has not by the end of a
    lease."""
    waits_out: tuple[type[LaunchRefused], ...] = ()
    """Refusals that pass by themselves: nothing is kept of them, and the wish comes again."""
