"""What a decision looks at besides evidence, rules and policies."""

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
    """Rows of the dataset that were quarantined and wait, as seen from what is published."""

    rows: int
    oldest: Instant | None = None
    """When the oldest of them was first quarantined."""
    exempt: bool = False
    """Whether the run brings no new rows: a replay, a rollback, an adoption."""
    renews: bool = False
    """Whether the run reads everything anew, so that nothing of before waits after it."""


class CaseFacts(FrozenModel):
    """The dataset as it is defined, and what was found out before the gate was asked."""

    dataset: DatasetName
    declared: TableSchema
    tags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tags by column."""
    eligibility: tuple[CheckResult, ...] = ()
    schema_differences: tuple[SchemaReaction, ...] = ()
    subject: Subject | None = None
    """None where no policy is in question: a compaction keeps rows that were approved."""
    waivers: tuple[Waiver, ...] = ()
    quarantine_rule_ids: tuple[str, ...] = Field(default=(), exclude_if=lambda rules: not rules)
    """Ids of the rules whose failing rows the run quarantined."""
    quarantine: Quarantined | None = Field(default=None, exclude_if=lambda found: found is None)
    """What waited when the run was decided on; None where no policy asks."""


class EarlierVersion(FrozenModel):
    """What was measured of a version when it was decided on."""

    version: int
    at: Instant
    values: dict[str, MeasureValue] = Field(default_factory=dict)
    """By measure, and only of those that a rule looks back at."""


class History(FrozenModel):
    """Earlier values that rules are held against, the published version first.

    What was never published is not in it, and neither is what is being decided on.
    """

    versions: tuple[EarlierVersion, ...] = ()
