"""What a decision looks at besides evidence, rules and policies."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.schema import TableSchema


class CaseFacts(Noun):
    """The dataset as it is defined, and what was found out before the gate was asked."""

    dataset: DatasetName
    declared: TableSchema
    tags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tags by column."""
    eligibility: tuple[CheckResult, ...] = ()
    schema_differences: tuple[SchemaReaction, ...] = ()


class History(Noun):
    """Earlier values that rules are held against; no rule looks back yet."""
