"""What readers are told: rows of the ledger and the registry as nouns."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    MoveKind,
    PolicyType,
    RunStatus,
    Severity,
)
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.model.evidence import Changes, InputVersion
from lakeguard_sdk.model.quarantine import ReplayOrder
from lakeguard_sdk.model.run import SchemaReaction, Window
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema

BuildKind = Literal["source", "sql", "python", "frame", "adoption"]


class DatasetRow(Noun):
    """Seed 000's ``dataset_registry``, with what its page shows beside it."""

    dataset_id: str
    dataset_name: DatasetName
    domain: str
    layer: Layer
    owner: str
    description: str
    active: bool
    created_at: Instant
    revision: int
    definition_hash: str


class RuleRow(Noun):
    rule_id: str
    dataset_id: str
    layer: Layer
    rule_type: str
    rule_expression: str
    severity: Severity
    active: bool


class PolicyRow(Noun):
    policy_id: str
    applies_to_layer: Layer | None = None
    policy_type: PolicyType
    policy_expression: str
    enforcement: Enforcement
    active: bool
    applies_to_domain: str = ""
    applies_to_tag: str = ""


class RunRow(Noun):
    run_id: str
    dataset_id: str
    dataset: DatasetName
    layer: Layer
    status: RunStatus
    start_time: Instant
    end_time: Instant
    error_message: str | None
    error_code: str | None
    triggered_by: str
    task_id: str
    attempt: int
    decision_id: str | None
    version: int | None
    window: Window | None = Field(default=None, exclude_if=lambda window: window is None)
    """What it was to fill back, where it was to do that."""
    replay: ReplayOrder | None = Field(default=None, exclude_if=lambda order: order is None)
    """Which rows it was to send again, where it was to do that."""
    move: MoveKind = Field(
        default=MoveKind.PUBLISH, exclude_if=lambda move: move is MoveKind.PUBLISH
    )
    """What it was to do to its table, whatever came of it."""
    job_id: str | None = Field(default=None, exclude_if=lambda job: job is None)
    """The job that it was an execution of, where it was one."""


class VersionRow(Noun):
    dataset_id: str
    version: int
    snapshot_ref: str
    schema_hash: str
    row_count: int
    promoted_at: Instant
    promoted_by: str
    table_rows: int
    run_id: str
    decision_id: str
    published: bool
    inputs: tuple[InputVersion, ...]
    notes: dict[str, Any] = Field(default_factory=dict)
    """What the build itself had to say of it."""
    removed: bool = False
    """Whether maintenance removed files of it: it cannot be shown again."""
    set_aside: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Rows that rules kept out of it."""
    built_by: BuildKind | None = None
    """What stood behind it; a frame that a program published names no inputs."""


class RunFacts(Noun):
    """What a run said of its batch, whatever came of it."""

    rows: int
    changes: Changes | None = None
    rejected: int = 0
    set_aside: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Rows that rules kept out of the table."""
    notes: dict[str, Any] = Field(default_factory=dict)


class ColumnLineage(Noun):
    """A column of a version, and a column of an input that its values were made of."""

    column: str
    input: DatasetName
    input_column: str | None
    """None: some of them, and which ones is not known."""


class PointerMove(Noun):
    """One row of "what was production at T"."""

    kind: MoveKind
    version: int
    moved_at: Instant
    actor: str
    reason: str
    decision_id: str


class Breach(Noun):
    """A promise about time that is broken now, whether a run comes or not."""

    policy: str
    expression: str
    enforcement: Enforcement
    message: str


class DatasetStatus(Noun):
    """One line of the health list."""

    dataset: DatasetRow
    published: int | None
    published_at: Instant | None
    table_rows: int | None
    last_run: RunRow | None
    rolled_back: bool = False
    """Whether what is published is the result of a rollback."""
    breaches: tuple[Breach, ...] = ()
    alerts: tuple[Breach, ...] = ()
    """Policies that were broken, and only alert, when what is published was decided."""
    waiting: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Rows that rules kept out, and that were neither sent again nor written off."""
    waiting_since: Instant | None = Field(default=None, exclude_if=lambda since: since is None)


class ResolvedDataset(Noun):
    """An address made exact: which commit of which table to read."""

    dataset: DatasetName
    dataset_id: str
    version: int
    location: str
    table_id: str
    commit: int
    table_schema: TableSchema


class ReplayResult(Noun):
    run_id: str
    decision_id: str
    identical: bool
    recorded: str
    """Canonical JSON of the ruling as it was recorded."""
    replayed: str
    """Canonical JSON of the ruling as it is decided now."""


class SchemaRow(Noun):
    """A schema that a run found, and the answer that it got."""

    run_id: str
    captured_at: Instant
    schema_hash: str
    live: TableSchema
    accepted: bool
    differences: tuple[SchemaReaction, ...]


class ClassedDifference(Noun):
    """One difference of what was seen from what is approved, and what each profile says to it."""

    column: str
    change: SchemaChange
    found: str | None
    declared: str | None
    other: str = ""
    """What the live schema calls the column, where it is, or may be, another name."""
    reactions: dict[str, Reaction]


class SchemaDiff(Noun):
    """The schema that a run saw last against the declared columns of now."""

    dataset: DatasetName
    run_id: str
    captured_at: Instant
    profile: str
    live: TableSchema
    differences: tuple[ClassedDifference, ...]
