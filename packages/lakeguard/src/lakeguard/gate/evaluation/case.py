"""Inputs of a decision besides evidence, rules and policies."""

from __future__ import annotations

from pydantic import Field

from lakeguard.gate.subject import Subject
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult, Waiver
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.types.schema import TableSchema


class Quarantined(FrozenModel):
    """Quarantined rows of the dataset as of the published version."""

    rows: int
    oldest: Instant | None = None
    """When the oldest of them was first quarantined."""
    exempt: bool = False
    """Whether the run brings no new rows: a replay, a rollback or an adoption."""
    renews: bool = False
    """Whether the run rereads everything, so that it replaces what is in quarantine."""


class CaseFacts(FrozenModel):
    """The dataset's definition, and what is known before the gate runs."""

    dataset: DatasetName
    declared: TableSchema
    tags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tags by column."""
    eligibility: tuple[CheckResult, ...] = ()
    schema_differences: tuple[SchemaReaction, ...] = ()
    subject: Subject | None = None
    """None where no policy applies: a compaction rewrites rows that were approved."""
    waivers: tuple[Waiver, ...] = ()
    quarantine_rule_ids: tuple[str, ...] = Field(default=(), exclude_if=lambda rules: not rules)
    """Ids of the rules whose failing rows the run quarantined."""
    quarantine: Quarantined | None = Field(default=None, exclude_if=lambda found: found is None)
    """The quarantine at decision time; None where no policy needs it."""


class EarlierVersion(FrozenModel):
    """Measures of a version at its decision."""

    version: int
    at: Instant
    values: dict[str, MeasureValue] = Field(default_factory=dict)
    """By measure key; only measures that a rule compares with history."""


class History(FrozenModel):
    """Earlier published versions that rules are compared with, newest first.

    Unpublished versions and the current candidate are not included.
    """

    versions: tuple[EarlierVersion, ...] = ()
