"""Runs: one attempt of a task, from plan to result."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName, Word
from lakeguard_sdk.core.enums import (
    LoadType,
    Malformed,
    MoveKind,
    RunStatus,
    SourceFormat,
    TargetFormat,
    TaskState,
)
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant, complete
from lakeguard_sdk.errors import FileDamaged, LakeGuardError, TableUnreadable
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.evidence import InputVersion, StagedFile, VersionPosition
from lakeguard_sdk.model.load import LoadField, batch_columns, load_columns
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineFile, QuarantineRule
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema


class WorkerIdentity(FrozenModel):
    """Identity of a worker process; host, pid and start mark reveal a dead local one."""

    name: str
    host: str
    pid: int
    process_mark: str


class RunTicket(FrozenModel):
    """Credential of an attempt: it opens the run port for this attempt only."""

    run_id: str
    task_id: str
    attempt: int
    lease_token: str


class TableSnapshot(FrozenModel):
    """An immutable state of a table: root location and Delta commit."""

    location: str
    table_id: str
    commit: int


class TableBase(FrozenModel):
    """The published version when the run opens; the move must start from it."""

    version: int
    commit: int
    table_id: str
    build_hash: str = ""
    inputs: tuple[InputVersion, ...] = ()


class InputPin(FrozenModel):
    """An input pinned to a version."""

    input: InputVersion
    snapshot: TableSnapshot
    table_schema: TableSchema = Field(alias="schema")
    since: TableSnapshot | None = None
    """For incremental reads: the batch is the rows added after this snapshot."""


class SourceBuild(FrozenModel):
    """Reads a source; a relative glob is resolved against the lake's root."""

    build: Literal["source"] = "source"
    source: Word
    format: SourceFormat
    path: str
    options: dict[str, str] = Field(default_factory=dict)
    position: VersionPosition | None = None
    """Where the base version stopped reading."""
    url: str = ""
    object: str = ""
    """For databases: ``schema.table``."""
    secrets: dict[str, str] = Field(default_factory=dict)
    header: tuple[str, ...] = ()
    malformed: Malformed = Malformed.REFUSE
    landing: bool = False
    roots: tuple[str, ...] = Field(default=(), exclude_if=lambda roots: not roots)
    """Folders below which its files are, if the settings of the service name any."""


RUN_TIME = "_run_time"
"""The parameter of SQL that is bound to ``as_of`` of the plan, as a TIMESTAMP. No parameter of a
user begins with an underscore."""


class SqlBuild(FrozenModel):
    """One SELECT over views, each bound to a pinned input."""

    build: Literal["sql"] = "sql"
    text: str
    views: dict[str, InputPin]
    parameters: dict[str, str] = Field(default_factory=dict, exclude_if=lambda found: not found)
    """Values of the ``:name`` parameters, bound by Spark and never pasted into the text: strings,
    and ``date`` as a DATE."""


class PythonBuild(FrozenModel):
    """A function over inputs by dataset name, each pinned."""

    build: Literal["python"] = "python"
    file: str
    function: str
    sha256: str
    inputs: dict[str, InputPin]
    parameters: dict[str, str] = Field(default_factory=dict, exclude_if=lambda found: not found)
    """What a function with a third parameter is given: details of dataset and job, and the
    settings of the launch, without secrets."""


class FrameBuild(FrozenModel):
    """A program passes the frame."""

    build: Literal["frame"] = "frame"


Build = Annotated[
    SourceBuild | SqlBuild | PythonBuild | FrameBuild | QuarantineBuild,
    Field(discriminator="build"),
]


class Window(FrozenModel):
    """A backfill window: rows from ``start`` to ``end`` of a column, both inclusive."""

    column: str
    start: str
    end: str


class RunPlan(FrozenModel):
    """Everything a data plane needs for one run, fixed when the run opens."""

    ticket: RunTicket
    dataset: DatasetName
    dataset_id: str
    lease_seconds: float
    load: LoadField
    declared: TableSchema
    build: Build
    measures: tuple[Measure, ...]
    location: str
    base: TableBase | None
    staging: str
    """Folder of the attempt, relative to ``location``."""
    definition_hash: str
    settings: dict[str, str] = Field(default_factory=dict)
    """Merged details of job, dataset, target and source; secrets are references."""
    format: TargetFormat = TargetFormat.DELTA
    database: DatabaseTable | None = None
    """The live table that follows the dataset, if its target is a database."""
    partition_by: tuple[str, ...] = ()
    transform: str = ""
    as_of: Instant | None = None
    """Submission time of the task, the same for every attempt; the current time of its SQL."""
    window: Window | None = None
    watermark: str | None = None
    """Watermark of the base version, if the load has one."""
    proven: tuple[str, ...] = ()
    """Keys of duplicate measures that are known to be 0 in the base version."""
    references: tuple[InputPin, ...] = ()
    """Datasets referenced by foreign key rules, pinned to a version."""
    private: tuple[str, ...] = ()
    """Columns, of inputs too, whose values must not appear in messages."""
    masked: tuple[str, ...] = ()
    """Columns of the table whose values must not appear in samples."""
    redacted_statistics: tuple[str, ...] = ()
    """Columns of the table without minimum and maximum in file statistics."""
    required: tuple[str, ...] = ()
    """Columns in which rules allow no NULL."""
    quarantine_rules: tuple[QuarantineRule, ...] = Field(
        default=(), exclude_if=lambda rules: not rules
    )
    """Rules whose failing rows are quarantined, in the order of their ids."""
    quarantined: tuple[QuarantineFile, ...] = Field(default=(), exclude_if=lambda files: not files)
    """What is in quarantine already, for a run that may read those rows again."""

    def under(self, verdict: SchemaVerdict) -> RunPlan:
        """The plan after the schema verdict."""
        if verdict.declared is None:
            return self
        return self.model_copy(
            update={
                "declared": verdict.declared,
                "measures": verdict.measures or self.measures,
                "quarantine_rules": self.quarantine_rules
                if verdict.quarantine_rules is None
                else verdict.quarantine_rules,
                "private": tuple(sorted({*self.private, *verdict.private})),
                "masked": tuple(sorted({*self.masked, *verdict.masked})),
                "redacted_statistics": tuple(
                    sorted({*self.redacted_statistics, *verdict.redacted_statistics})
                ),
            }
        )

    @property
    def batch_schema(self) -> TableSchema:
        """The columns of a batch."""
        return TableSchema(columns=batch_columns(self.load, self.declared.columns))

    @property
    def table_schema(self) -> TableSchema:
        """The declared columns, then those written by the load."""
        return TableSchema(columns=self.declared.columns + load_columns(self.load))

    @property
    def pins(self) -> tuple[InputPin, ...]:
        """All pinned inputs of the build."""
        return pins_of(self.build)


def pins_of(build: Build | None) -> tuple[InputPin, ...]:
    match build:
        case SqlBuild(views=pinned) | PythonBuild(inputs=pinned):
            return tuple(pinned.values())
    return ()


class SchemaReaction(FrozenModel):
    """One difference between live and declared schema, and the reaction to it."""

    column: str
    change: SchemaChange
    found: str | None
    declared: str | None
    reaction: Reaction
    other: str = Field(default="", exclude_if=lambda name: not name)
    """The column's name in the live schema, if it was or may have been renamed."""
    why: str = Field(default="", exclude_if=lambda reason: not reason)
    """The reason, if it is not the profile."""


class SchemaVerdict(FrozenModel):
    accepted: bool
    differences: tuple[SchemaReaction, ...]
    result: RunResult | None = None
    """Set if the difference ended the run."""
    declared: TableSchema | None = Field(default=None, exclude_if=lambda schema: schema is None)
    """Replaces the declared columns of the plan, if the run accepted others."""
    measures: tuple[Measure, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Replaces the measures of the plan."""
    pinned: str = Field(default="", exclude_if=lambda value: not value)
    """Hash of the policies and tags of the accepted columns."""
    private: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Added to ``private`` of the plan."""
    masked: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Added to ``masked`` of the plan."""
    redacted_statistics: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Added to ``redacted_statistics`` of the plan."""
    quarantine_rules: tuple[QuarantineRule, ...] | None = Field(
        default=None, exclude_if=lambda rules: rules is None
    )
    """Replaces the quarantine rules of the plan; None if unchanged."""


class Failure(FrozenModel):
    code: str
    message: str
    retryable: bool = False
    damaged: str = Field(default="", exclude_if=lambda damaged: not damaged)
    """The dataset whose table is damaged, if the error says so: it may be an input of the run."""


def failure_of(error: LakeGuardError) -> Failure:
    """The error as it is stored and shown."""
    damaged = ""
    if isinstance(error, TableUnreadable):
        damaged = error.named
    elif isinstance(error, FileDamaged):
        damaged = str(error.fields["dataset"])
    return Failure(code=error.code, message=str(error), retryable=error.retryable, damaged=damaged)


class Intent(FrozenModel):
    """The permission to make one commit: number ``seq`` of the table, on top of ``base_commit``."""

    intent_id: str
    kind: MoveKind
    dataset: DatasetName
    dataset_id: str
    run_id: str
    decision_id: str
    seq: int
    location: str
    table_id: str
    base_commit: int
    load: LoadType | None = None
    """FULL replaces all files of the table, APPEND none, any other some."""
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    adds: tuple[StagedFile, ...] = ()
    removes: tuple[str, ...] = ()
    target_commit: int | None = None
    """For a rollback: the commit to restore."""


class RunResult(FrozenModel):
    """How a run ended; completing again returns the same result."""

    run_id: str
    dataset: DatasetName
    status: RunStatus
    version: int | None = None
    rows: int | None = None
    inputs: tuple[InputVersion, ...] = ()
    error: Failure | None = None
    decision: Decision | None = None
    ended_at: Instant


class AbandonedAttempt(FrozenModel):
    """An abandoned attempt that was ended, or a task that was never started."""

    task_id: str
    run_id: str | None
    """None if its process ended before the run began."""
    name: str
    """Its job, otherwise its dataset."""
    worker: WorkerIdentity | None = None
    begun_at: Instant
    """When the run began, else when the task was submitted."""
    lease_expires_at: Instant | None = None
    reason: str
    """Why it was considered dead."""
    state: TaskState
    """New state of its task."""
    version: int | None = None
    """The version of its commit, if that had already landed and was accepted."""


complete(SchemaVerdict)
