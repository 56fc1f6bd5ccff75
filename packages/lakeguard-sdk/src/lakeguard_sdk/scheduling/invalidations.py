"""Invalidations: what has to be built again, and how far those have come who depend on it."""

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
    """How far a dataset is with an invalidation."""

    CAUGHT_UP = "caught_up"
    NOT_AFFECTED = "not_affected"
    """It has nothing to build again: it was never built, or is not built any more."""
    READY = "ready"
    """What it is built from has caught up, so that it may."""
    WAITING = "waiting"


class End(StrEnum):
    DONE = "done"
    WITHDRAWN = "withdrawn"


class Follower(FrozenModel):
    """A dataset that an invalidation reaches, itself or through what it is built from."""

    dataset: DatasetName
    standing: Standing
    reach: RowRange
    window: Window | None = None
    """What a run has to build again; None where it is all of it."""
    waits_for: tuple[DatasetName, ...] = ()
    version: int | None = None
    """The first that has caught up."""
    run_id: str | None = None
    job: str | None = None
    """The job that is launched for it; without one, somebody has to run it."""
    held_by: str | None = None
    """What keeps the job from being launched now, and passes by itself."""
    task_id: str | None = None


class InvalidationRow(FrozenModel):
    """An invalidation as it stands now."""

    invalidation_id: str
    dataset: DatasetName
    reach: RowRange
    reason: Reason
    why: str | None = None
    caused_by: str | None = None
    """The run that replaced what others had read already; None where a person said so."""
    created_at: Instant
    created_by: str
    end: End | None = None
    ended_at: Instant | None = None
    ended_by: str | None = None
    end_why: str | None = None
    """Why it was withdrawn."""
    canceled: tuple[str, ...] = ()
    """Tasks that were canceled with it; only who withdraws it is told."""
    going_on: tuple[str, ...] = ()
    """Of one that was withdrawn, where it is told by itself: tasks that were launched for it, and
    for no other that is open, and are not over."""
    followers: tuple[Follower, ...] = ()

    @property
    def behind(self) -> tuple[Follower, ...]:
        """Those who have not caught up."""
        if self.end is not None:
            return ()
        late = (Standing.READY, Standing.WAITING)
        return tuple(item for item in self.followers if item.standing in late)


class PartitionRow(FrozenModel):
    """What a version shows of one partition, and the version that brought or replaced it last."""

    partition: str
    version: int
    rows: int
    bytes: int
    location: str
    run_id: str
    materialized_at: Instant
    config_hash: str
    schema_hash: str
