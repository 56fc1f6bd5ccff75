"""Wishes to start a job, and why somebody or something has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from pydantic import Field

from lakeguard.dispatch.assigning import BY_HAND
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import Window


class CauseKind(StrEnum):
    CRON = "cron"
    UPDATE = "update"
    FILES = "files"
    EVENT = "event"
    AFTER = "after"
    MANUAL = BY_HAND
    INVALIDATION = "invalidation"


class Cause(Noun):
    """Why a task was launched; it is kept with the task."""

    kind: CauseKind
    details: dict[str, Any] = Field(default_factory=dict)


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
