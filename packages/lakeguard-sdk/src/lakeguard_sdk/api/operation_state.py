"""Long operations as the service reports them, and what a client must know of a service."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.api.problems import Problem
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant

OPERATIONS_PATH = f"{PREFIX}/operations/{{operation_id}}"
LONGEST_WAIT = 30
"""Maximum seconds that a request waits for progress of an operation."""


class OperationStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class OperationState(FrozenModel):
    """Running with its progress, done with its result, or failed with its problem."""

    operation_id: str
    operation: str
    status: OperationStatus
    started_at: Instant
    ended_at: Instant | None = None
    progress: tuple[str, ...] = ()
    """Lines that the caller has not seen yet."""
    lines: int = 0
    """The number of lines so far."""
    result: Any = None
    problem: Problem | None = None


class ServiceInfo(FrozenModel):
    """What a client must know of the service."""

    version: str
    organisation: str
    actor: str
    lake: str
    spark_options: dict[str, str]
    heartbeat_seconds: float
    actions: tuple[str, ...] | None = None
    """What the caller may do, at least somewhere; None: not known."""
