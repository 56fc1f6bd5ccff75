"""Operations that take long, as the service shows them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from lakeguard_sdk.api.operation import PREFIX
from lakeguard_sdk.api.problems import Problem
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant

OPERATIONS_PATH = f"{PREFIX}/operations/{{operation_id}}"
LONGEST_WAIT = 30
"""Seconds that a request waits at most for an operation to go on."""


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
    """Lines after those that the caller has seen."""
    lines: int = 0
    """How many lines there were in all."""
    result: Any = None
    problem: Problem | None = None


class ServiceInfo(FrozenModel):
    """What a client has to know of the service."""

    version: str
    organisation: str
    actor: str
    lake: str
    spark_options: dict[str, str]
    heartbeat_seconds: float
