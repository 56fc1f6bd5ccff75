"""Streaming queries that write to a governed table: what their program reports, and what is known.

Every micro-batch is a run, with its own facts. A report says what no run can: how far the query is
behind its sources once a micro-batch is over, that it waits for data, and that it has ended.
"""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.enums import StreamState
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.run import WorkerIdentity

LONGEST_TEXT = 500


class Backlog(FrozenModel):
    """What a source had that the last micro-batch did not read."""

    source: str = Field(max_length=LONGEST_TEXT)
    """As Spark describes it."""
    rows: int
    """Rows that the last micro-batch read of it."""
    amount: int | None = Field(default=None, ge=0)
    """None if the source does not report how much it has."""
    unit: str = Field(default="", max_length=40)
    """What is counted: ``offsets`` of Kafka, ``files`` or ``bytes``."""


class StreamProgress(FrozenModel):
    """The last micro-batch that ended with success."""

    batch: int
    ended_at: Instant
    seconds: float
    rows: int
    arriving: float | None = None
    """Rows per second that arrived."""
    processing: float | None = None
    """Rows per second that were processed."""
    event_time: Instant | None = None
    """The latest event time, if the query has a watermark."""
    sources: tuple[Backlog, ...] = ()


class StreamReport(FrozenModel):
    """What the program of a query reports of it."""

    query_id: str = Field(min_length=1, max_length=64)
    """The id that Spark keeps in the checkpoint."""
    state: StreamState
    process: WorkerIdentity
    progress: StreamProgress | None = None
    """None if no micro-batch has ended since the program began."""
    error: str = Field(default="", max_length=4 * LONGEST_TEXT)
    """What ended the query, if it was blocked or failed."""


class StreamStatus(FrozenModel):
    """A query by its last report."""

    query_id: str
    state: StreamState
    reported_at: Instant
    progress: StreamProgress | None = None
    error: str = Field(default="", exclude_if=lambda error: not error)
    lost: str = Field(default="", exclude_if=lambda lost: not lost)
    """Why a query that is said to run no longer does, or may not."""
