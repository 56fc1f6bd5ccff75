"""What suggestions are made of: a profile, and what else is known of a dataset. No row of it."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.profile import ColumnProfile
from lakeguard_sdk.schema import TableSchema


class OtherKey(Noun):
    """A column of another dataset that names its rows, each once."""

    dataset: DatasetName
    column: str
    type: str


class Earlier(Noun):
    """A version as it was published: the rows that its run brought, and its newest values."""

    version: int
    at: Instant
    rows: int
    greatest: dict[str, MeasureValue] = Field(default_factory=dict)
    """By column; of columns that may not be told there is none."""


class Seen(Noun):
    """The rows that were profiled, and what is known beside them."""

    table_schema: TableSchema = Field(alias="schema")
    rows: int
    columns: tuple[ColumnProfile, ...]
    at: Instant
    """When they were published, or looked at."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Keys that are known: those of the load, or those that a look found."""
    rules: tuple[RuleDefinition, ...] = ()
    """Rules that there are already."""
    others: tuple[OtherKey, ...] = ()
    versions: tuple[Earlier, ...] = ()
    """The published one first; none where nothing is published yet."""
