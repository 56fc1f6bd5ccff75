"""Profiles: what the values of a published version look like, column by column."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun


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
    distinct: int | None = None
    """An estimate, from the sketch."""
    least: MeasureValue = None
    greatest: MeasureValue = None
    mean: float | None = None
    deviation: float | None = None
    quantiles: dict[str, MeasureValue] = Field(default_factory=dict)
    """By share: ``0.25``, ``0.5``, ``0.75`` and others."""
    top: tuple[Frequent, ...] = ()
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
