"""An attempt under way in this process, and the ways it can be told to end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.tasks import Assignment


class Ending(StrEnum):
    """What became of an attempt, as its worker knows it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    BLOCKED = "blocked"
    HANDED_OVER = "handed over"
    """Somebody outside goes on with it."""
    TAKEN = "taken"
    """It was ended, or taken over, by others: whatever it came to does not count."""


@dataclass(frozen=True)
class Ended:
    ending: Ending
    error: Failure | None = None
    version: int | None = None
    """Of a build that published."""


ENDINGS = {
    RunStatus.SUCCESS: Ending.SUCCEEDED,
    RunStatus.FAILED: Ending.FAILED,
    RunStatus.BLOCKED: Ending.BLOCKED,
}


@dataclass
class Attempt:
    """Safe to use from any thread; what was lost or stopped stays so."""

    assignment: Assignment
    _lost: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def ticket(self) -> RunTicket:
        return self.assignment.ticket

    @property
    def name(self) -> str:
        """The job, or the dataset where no job builds it."""
        return str(self.assignment.job or self.assignment.dataset or self.ticket.task_id)

    @property
    def is_lost(self) -> bool:
        """The dispatcher gave it up: what it does now counts for nothing."""
        return self._lost.is_set()

    @property
    def is_stopped(self) -> bool:
        """The worker is to end."""
        return self._stopped.is_set()

    def lose(self) -> None:
        self._lost.set()

    def stop(self) -> None:
        self._stopped.set()
