"""Read models: rows of the ledger and the registry."""

from __future__ import annotations

from enum import StrEnum
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
    TaskKind,
)
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.evidence import Changes, InputVersion
from lakeguard_sdk.model.quarantine import ReplayParameters
from lakeguard_sdk.model.run import SchemaReaction, Window, WorkerIdentity
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.model.streams import StreamStatus
from lakeguard_sdk.types.schema import TableSchema

BuildKind = Literal["source", "sql", "python", "frame", "adoption"]


class DatasetRow(FrozenModel):
    """A row of ``dataset_registry`` (seed 000), with its current revision."""

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


class RuleRow(FrozenModel):
    rule_id: str
    dataset_id: str
    layer: Layer
    rule_type: str
    rule_expression: str
    severity: Severity
    active: bool


class PolicyRow(FrozenModel):
    policy_id: str
    applies_to_layer: Layer | None = None
    policy_type: PolicyType
    policy_expression: str
    enforcement: Enforcement
    active: bool
    applies_to_domain: str = ""
    applies_to_tag: str = ""


class RunRow(FrozenModel):
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
    """The window of a backfill."""
    replay: ReplayParameters | None = Field(default=None, exclude_if=lambda order: order is None)
    """The parameters of a quarantine replay."""
    move: MoveKind = Field(
        default=MoveKind.PUBLISH, exclude_if=lambda move: move is MoveKind.PUBLISH
    )
    """The intended move of its table."""
    job_id: str | None = Field(default=None, exclude_if=lambda job: job is None)
    """The job that launched it, if any."""
    damaged: str = Field(default="", exclude_if=lambda damaged: not damaged)
    """The dataset whose damaged table ended it."""


class JobExecution(FrozenModel):
    """An attempt of a Python or HTTP job."""

    run_id: str
    job: str
    kind: TaskKind
    status: RunStatus | None
    """None while it runs."""
    start_time: Instant
    end_time: Instant | None
    task_id: str
    attempt: int
    triggered_by: str
    error_code: str | None = None
    error_message: str | None = None


class OpenRun(FrozenModel):
    """A run that has not ended."""

    task_id: str
    run_id: str | None
    """None if its process died before the run began."""
    dataset: DatasetName
    begun_at: Instant
    triggered_by: str
    worker: WorkerIdentity | None = None
    dead: str = ""
    """Why it can no longer end by itself: its process is gone, or its lease is over. The next
    command that writes, or the dispatcher, ends it."""


class RunEventKind(StrEnum):
    """What happens to a run, in this order; each at most once."""

    STARTED = "started"
    """An attempt of the task has begun."""
    OPENED = "opened"
    """Inputs, rules and settings are pinned."""
    SCHEMA = "schema"
    """The schema of the batch is known."""
    DECIDED = "decided"
    """The gate has decided."""
    MOVING = "moving"
    """The table is about to change."""
    MOVED = "moved"
    """The commit was found, or is known to be impossible now."""
    ENDED = "ended"
    """Nothing follows."""


class RunEvent(FrozenModel):
    kind: RunEventKind
    at: Instant
    detail: str = ""
    """The verdict, the kind of the move and its outcome, or the status of the run."""
    code: str = ""
    """Of the error that ended it."""


class VersionRow(FrozenModel):
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
    """Notes of the build."""
    removed: bool = False
    """Whether maintenance removed its files, so that it cannot be restored."""
    quarantined: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Rows quarantined by rules."""
    built_by: BuildKind | None = None
    """A published frame names no inputs."""


class RunFacts(FrozenModel):
    """Facts about a run's batch, published or not."""

    rows: int
    changes: Changes | None = None
    rejected: int = 0
    quarantined: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Rows quarantined by rules."""
    notes: dict[str, Any] = Field(default_factory=dict)


class ColumnLineage(FrozenModel):
    """A column of a version, and an input column that it is derived from."""

    column: str
    input: DatasetName
    input_column: str | None
    """None if the input columns are unknown."""


class PointerMove(FrozenModel):
    """A change of the published version."""

    kind: MoveKind
    version: int
    moved_at: Instant
    actor: str
    reason: str
    decision_id: str


class Breach(FrozenModel):
    """A current policy violation of a dataset."""

    policy: str
    expression: str
    enforcement: Enforcement
    message: str


class DatasetStatus(FrozenModel):
    """One row of ``lakeguard status``."""

    dataset: DatasetRow
    published: int | None
    published_at: Instant | None
    table_rows: int | None
    last_run: RunRow | None
    rolled_back: bool = False
    """Whether the published version is the result of a rollback."""
    breaches: tuple[Breach, ...] = ()
    alerts: tuple[Breach, ...] = ()
    """ALERT policies violated when the published version was decided."""
    quarantined: int = Field(default=0, exclude_if=lambda rows: not rows)
    """Quarantined rows that were neither replayed nor discarded."""
    quarantined_since: Instant | None = Field(default=None, exclude_if=lambda since: since is None)
    new_columns: tuple[SchemaReaction, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Columns that the last read input has and the dataset neither declares nor leaves out."""
    damage: str = Field(default="", exclude_if=lambda damage: not damage)
    """What was found wrong with its table and is not undone yet."""
    open_run: OpenRun | None = Field(default=None, exclude_if=lambda run: run is None)
    """The newest run that has not ended; ``dead`` says whether it still can."""
    streams: tuple[StreamStatus, ...] = Field(default=(), exclude_if=lambda found: not found)
    """Streaming queries that write to it, last reported first."""


class ResolvedDataset(FrozenModel):
    """An address resolved to a commit of a table."""

    dataset: DatasetName
    dataset_id: str
    version: int
    location: str
    table_id: str
    commit: int
    table_schema: TableSchema


class ReplayResult(FrozenModel):
    run_id: str
    decision_id: str
    identical: bool
    recorded: str
    """Canonical JSON of the recorded ruling."""
    replayed: str
    """Canonical JSON of the replayed ruling."""


class SchemaRow(FrozenModel):
    """A schema observed by a run, and the verdict on it."""

    run_id: str
    captured_at: Instant
    schema_hash: str
    live: TableSchema
    accepted: bool
    differences: tuple[SchemaReaction, ...]


class ClassedDifference(FrozenModel):
    """One difference between observed and declared schema, with each profile's reaction."""

    column: str
    change: SchemaChange
    found: str | None
    declared: str | None
    other: str = ""
    """The column's name in the live schema, if it was or may have been renamed."""
    reactions: dict[str, Reaction]


class SchemaDiff(FrozenModel):
    """The last observed schema against the currently declared columns."""

    dataset: DatasetName
    run_id: str
    captured_at: Instant
    profile: str
    live: TableSchema
    differences: tuple[ClassedDifference, ...]


# Search.


class MatchedField(StrEnum):
    NAME = "name"
    OWNER = "owner"
    DOMAIN = "domain"
    TAG = "tag"
    COLUMN = "column"
    DESCRIPTION = "description"


class Match(FrozenModel):
    """A value that the search found."""

    field: MatchedField
    value: str


class FoundDataset(FrozenModel):
    dataset_id: str
    dataset: DatasetName
    layer: Layer
    domain: str
    owner: str
    active: bool
    description: str
    matched: tuple[Match, ...] = ()
    """Where the words were found."""
