"""Profiles: what the values of a published version look like, column by column."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.read_models import ResolvedDataset

SHARES = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99")
"""Of the rows, at which a profile tells quantiles."""


class ProfilePlan(Noun):
    """What to take a profile of, and which columns no value may be told of."""

    dataset: ResolvedDataset
    masked: tuple[str, ...] = ()


class Sketch(Noun):
    """A mergeable summary: ``type_tag`` says what was put in, and so what may be merged with it."""

    kind: str
    """``hll`` for different values, ``kll`` for quantiles."""
    type_tag: str
    data: str
    """Base64 of the sketch's own bytes."""


class Frequent(Noun):
    """A value, or the pattern of one, and how many rows have it."""

    value: str | None
    rows: int


class ColumnProfile(Noun):
    """What is known of a column; of one that may not be told, no value and no sketch."""

    column: str
    type: str
    nulls: int
    nans: int = 0
    """Of floating numbers. NaN is a value like others, but has no place among them."""
    distinct: int | None = None
    """Different values, counted; the sketch beside it is for merging."""
    least: MeasureValue = None
    greatest: MeasureValue = None
    """Of texts, least and greatest by code points; a long one is cut, as all texts here."""
    mean: float | None = None
    deviation: float | None = None
    """Of a sample. Neither is told where it is no finite number."""
    quantiles: dict[str, MeasureValue] = Field(default_factory=dict)
    """By share: the least value that so large a share of the rows does not exceed, roughly."""
    top: tuple[Frequent, ...] = ()
    """The most frequent values. Where not all are listed, none that only one row has."""
    lengths: tuple[int, int, float] | None = None
    """Of texts: shortest, longest, mean."""
    patterns: tuple[Frequent, ...] = ()
    """Of texts: letters as ``a`` or ``A``, digits as ``9``, all else as it is."""
    sketches: tuple[Sketch, ...] = ()
    masked: bool = False


class Profile(Noun):
    """All columns of one version, as they were published."""

    dataset: DatasetName
    version: int
    rows: int
    columns: tuple[ColumnProfile, ...]
    engine: str
    taken_at: Instant


class ColumnChange(Noun):
    """A column in two versions; what it is in each, their profiles say."""

    column: str
    psi: float | None = None
    """The population stability index; None where one of them has no values that may be told."""
    new_values: tuple[str, ...] = ()
    gone_values: tuple[str, ...] = ()
    """Frequent values that the other version, of which all are listed, does not have."""
    much: tuple[str, ...] = ()
    """In words, what differs much."""


class ProfileDiff(Noun):
    """Two profiles side by side; their sketches are left out."""

    before: Profile
    after: Profile
    columns: tuple[ColumnChange, ...]
    much: bool
    """Whether the numbers of rows differ much."""
