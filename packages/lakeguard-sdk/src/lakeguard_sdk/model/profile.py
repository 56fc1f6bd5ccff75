"""Profiles: statistics of the columns of a published version."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.read_models import ResolvedDataset

SHARES = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99")
"""The quantiles of a profile."""


class ProfilePlan(FrozenModel):
    """What to profile, and which columns are masked."""

    dataset: ResolvedDataset
    masked: tuple[str, ...] = ()


class Sketch(FrozenModel):
    """A mergeable sketch; only sketches with the same ``type_tag`` can be merged."""

    kind: str
    """``hll`` for distinct counts, ``kll`` for quantiles."""
    type_tag: str
    data: str
    """Base64 of the sketch's bytes."""


class Frequent(FrozenModel):
    """A value or pattern, and its row count."""

    value: str | None
    rows: int


class ColumnProfile(FrozenModel):
    """Statistics of a column; a masked one has no values and no sketches."""

    column: str
    type: str
    nulls: int
    nans: int = 0
    """Floats only. NaN counts as a value, but not in minimum, maximum and quantiles."""
    distinct: int | None = None
    """Exact distinct count; the sketch is for merging."""
    least: MeasureValue = None
    greatest: MeasureValue = None
    """Texts compare by code points; all texts here are truncated."""
    mean: float | None = None
    deviation: float | None = None
    """Sample standard deviation. Mean and deviation are None if not finite."""
    quantiles: dict[str, MeasureValue] = Field(default_factory=dict)
    """Approximate quantiles, by share."""
    top: tuple[Frequent, ...] = ()
    """The most frequent values. If the list is incomplete, values of a single row are omitted."""
    lengths: tuple[int, int, float] | None = None
    """Text lengths: minimum, maximum, mean."""
    patterns: tuple[Frequent, ...] = ()
    """Text patterns: letters as ``a`` or ``A``, digits as ``9``, the rest unchanged."""
    sketches: tuple[Sketch, ...] = ()
    masked: bool = False


class Profile(FrozenModel):
    """Profile of all columns of one version."""

    dataset: DatasetName
    version: int
    rows: int
    columns: tuple[ColumnProfile, ...]
    engine: str
    taken_at: Instant


class ColumnChange(FrozenModel):
    """Differences of a column between two versions."""

    column: str
    psi: float | None = None
    """Population stability index; None if one of them has no visible values."""
    new_values: tuple[str, ...] = ()
    gone_values: tuple[str, ...] = ()
    """Frequent values absent from the other version, if that version lists all its values."""
    much: tuple[str, ...] = ()
    """Descriptions of large differences."""


class ProfileDiff(FrozenModel):
    """Two profiles side by side, without their sketches."""

    before: Profile
    after: Profile
    columns: tuple[ColumnChange, ...]
    much: bool
    """Whether the row counts differ much."""
