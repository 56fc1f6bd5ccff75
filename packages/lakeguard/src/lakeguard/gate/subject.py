"""Metadata of the dataset that policies use; pinned when a run opens."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class InheritedTag(FrozenModel):
    """A tag that a column inherits along lineage."""

    column: str
    tag: str
    source: str
    """``layer.name.column`` where the tag is declared."""
    through: tuple[str, ...] = ()
    """Functions that every value passed through, in lower case."""
    unknown: bool = Field(default=False, exclude_if=lambda value: not value)
    """Whether the lineage of the column is unknown, so that it may carry any tag."""


class DeclaredOrigin(FrozenModel):
    """A person's word on a column, which replaces what lineage shows."""

    column: str
    derived_from: tuple[str, ...] = ()
    """Columns as ``layer.name.column``; empty if the column is declared clean."""
    reason: str


class ReadInput(FrozenModel):
    """A version that the run reads."""

    dataset: DatasetName
    version: int
    promoted_at: Instant


class Subject(FrozenModel):
    """Metadata of a dataset. None means not applicable: a rollback reads no inputs, and a first
    version has no predecessor."""

    domain: str
    owner: str
    description: str
    parents: tuple[DatasetName, ...]
    keys: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]
    """Columns that each active rule names."""
    travelled: tuple[InheritedTag, ...] = ()
    inputs: tuple[ReadInput, ...] | None = None
    promoted_at: Instant | None = None
    """Time of the last promotion."""
    rows_before: int | None = None
    """Rows of the published table."""
    opened_at: Instant | None = None
    outside: tuple[str, ...] | None = Field(default=None, exclude_if=lambda found: found is None)
    """What the rows are made of besides datasets and declared sources; None until a run has
    reported it."""
    declared: tuple[DeclaredOrigin, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Columns of which a person has declared what they are made of."""
    by_load: tuple[str, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Columns that the load writes, which quarantined rows do not have."""
