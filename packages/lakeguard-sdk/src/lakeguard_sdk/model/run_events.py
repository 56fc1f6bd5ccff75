"""What happens to a run while it is live."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class RunEventKind(StrEnum):
    """In this order, each at most once."""

    STARTED = "started"
    """An attempt of the task has begun."""
    OPENED = "opened"
    """Inputs, rules and settings are pinned."""
    SCHEMA = "schema"
    """The schema of the batch is known."""
    DECIDED = "decided"
    """The gate has decided."""
    MOVING = "moving"
    """The table is about to change."""
    MOVED = "moved"
    """The commit was found, or it can no longer come."""
    ENDED = "ended"
    """Nothing follows."""


class RunEvent(FrozenModel):
    kind: RunEventKind
    at: Instant
    detail: str = ""
    """The verdict, the kind of the move and its outcome, or the status of the run."""
    code: str = ""
    """Of the error that ended it."""
