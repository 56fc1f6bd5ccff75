"""Launch requests and their causes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from lakeguard_sdk.core.enums import CauseKind
from lakeguard_sdk.errors import LaunchRefused
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.tasks import Cause

__all__ = ["Cause", "CauseKind", "LaunchRequest"]


@dataclass(frozen=True)
class LaunchRequest:
    """A request to launch a job: the same job and key is the same task."""

    job_id: str
    key: str
    cause: Cause
    actor: str
    parameters: dict[str, str] = field(default_factory=dict)
    """Settings of this launch; they override the job's."""
    day: date | None = None
    window: Window | None = None
    reserved: bool = False
    """This process runs it; workers never claim it."""
    waits_out: tuple[type[LaunchRefused], ...] = ()
    """Temporary refusals: they are not stored, and the request is repeated."""
