"""The dataset in question, as far as policies ask: pinned when a run opens."""

from __future__ import annotations

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class Travelled(FrozenModel):
    """A tag that came down to a column from a column that carries it."""

    column: str
    tag: str
    source: str
    """``layer.name.column`` where the tag is declared."""
    through: tuple[str, ...] = ()
    """Functions that every value passed on the way, in lower case."""


class ReadInput(FrozenModel):
    """A version that the run reads."""

    dataset: DatasetName
    version: int
    promoted_at: Instant


class Subject(FrozenModel):
    """What is known of a dataset without its data. None is what does not arise: a rollback reads
    no inputs, and a first version has none before it."""

    domain: str
    owner: str
    description: str
    parents: tuple[DatasetName, ...]
    keys: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]
    """The columns that each active rule names."""
    travelled: tuple[Travelled, ...] = ()
    inputs: tuple[ReadInput, ...] | None = None
    promoted_at: Instant | None = None
    """When a version of it was promoted last."""
    rows_before: int | None = None
    """Rows of the table as it is published."""
    opened_at: Instant | None = None
