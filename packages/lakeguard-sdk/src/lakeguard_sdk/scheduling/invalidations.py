"""Invalidations: row ranges to rebuild, and the progress of their dependents."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Window


class Reason(StrEnum):
    CORRECTION = "correction"
    LATE_DATA = "late_data"
    SCHEMA_CHANGE = "schema_change"
    MANUAL = "manual"


class Standing(StrEnum):
    """Progress of a dataset with an invalidation."""

    CAUGHT_UP = "caught_up"
    NOT_AFFECTED = "not_affected"
    """Nothing to rebuild: it was never built, or is no longer built."""
    READY = "ready"
    """Its inputs have caught up."""
    WAITING = "waiting"


class End(StrEnum):
    DONE = "done"
    WITHDRAWN = "withdrawn"


class Follower(FrozenModel):
    """A dataset affected by an invalidation, directly or through its inputs."""

    dataset: DatasetName
    standing: Standing
    reach: RowRange
    window: Window | None = None
    """The window that a run has to rebuild; None for all of it."""
    waits_for: tuple[DatasetName, ...] = ()
    version: int | None = None
    """The first version that has caught up."""
    run_id: str | None = None
    job: str | None = None
    """The job that is launched for it; without one, run it manually."""
    held_by: str | None = None
    """Temporary reason why the job is not launched yet."""
    task_id: str | None = None


class InvalidationRow(FrozenModel):
    """The current state of an invalidation."""

    invalidation_id: str
    dataset: DatasetName
    reach: RowRange
    reason: Reason
    why: str | None = None
    caused_by: str | None = None
    """The run that replaced rows already read by others; None if raised by a person."""
    created_at: Instant
    created_by: str
    end: End | None = None
    ended_at: Instant | None = None
    ended_by: str | None = None
    end_why: str | None = None
    """Why it was withdrawn."""
    canceled: tuple[str, ...] = ()
    """Tasks canceled by the withdrawal; set only in its response."""
    going_on: tuple[str, ...] = ()
    """For a single withdrawn invalidation: active tasks launched only for it."""
    followers: tuple[Follower, ...] = ()

    @property
    def lagging(self) -> tuple[Follower, ...]:
        """Datasets that have not caught up."""
        if self.end is not None:
            return ()
        late = (Standing.READY, Standing.WAITING)
        return tuple(item for item in self.followers if item.standing in late)


class PartitionRow(FrozenModel):
    """One partition of a version, and the version that last wrote it."""

    partition: str
    version: int
    rows: int
    bytes: int
    location: str
    run_id: str
    materialized_at: Instant
    config_hash: str
    schema_hash: str
