"""An attempt in this process, and how it ends."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.tasks import Assignment


class Ending(StrEnum):
    """Result of an attempt, as known to its worker."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    BLOCKED = "blocked"
    HANDED_OVER = "handed over"
    """An external system continues it."""
    TAKEN = "taken"
    """Ended or taken over by another process; its result does not count."""


@dataclass(frozen=True)
class Ended:
    ending: Ending
    error: Failure | None = None
    version: int | None = None
    """Published version of a build."""


ENDINGS = {
    RunStatus.SUCCESS: Ending.SUCCEEDED,
    RunStatus.FAILED: Ending.FAILED,
    RunStatus.BLOCKED: Ending.BLOCKED,
}


@dataclass
class Attempt:
    """Thread-safe; lost and stopped are final."""

    assignment: Assignment
    _lost: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def ticket(self) -> RunTicket:
        return self.assignment.ticket

    @property
    def name(self) -> str:
        """Its job, else its dataset."""
        return str(self.assignment.job or self.assignment.dataset or self.ticket.task_id)

    @property
    def is_lost(self) -> bool:
        """The lease is lost: its result does not count."""
        return self._lost.is_set()

    @property
    def is_stopped(self) -> bool:
        """The worker is shutting down."""
        return self._stopped.is_set()

    def lose(self) -> None:
        self._lost.set()

    def stop(self) -> None:
        self._stopped.set()
