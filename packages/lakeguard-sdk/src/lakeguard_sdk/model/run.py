"""A run: one attempt of a task, from its plan to its result."""

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
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.evidence import InputVersion, SourcePosition, StagedFile
from lakeguard_sdk.model.load import LoadField, batch_columns, load_columns
from lakeguard_sdk.model.quarantine import AsideRule, QuarantineBuild
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema


class WorkerIdentity(Noun):
    """Who runs; a dead local process is recognised by host, pid and start mark."""

    name: str
    host: str
    pid: int
    process_mark: str


class RunTicket(Noun):
    """What a run holds: it opens the run port for this attempt and nothing else."""

    run_id: str
    task_id: str
    attempt: int
    lease_token: str


class TableSnapshot(Noun):
    """An immutable state of a table: root location and Delta commit."""

    location: str
    table_id: str
    commit: int


class TableBase(Noun):
    """What the table shows when the run opens; the move starts from exactly this."""

    version: int
    commit: int
    table_id: str
    build_hash: str = ""
    inputs: tuple[InputVersion, ...] = ()


class InputPin(Noun):
    """An input at the version the run must read, and the one its base version had read."""

    input: InputVersion
    snapshot: TableSnapshot
    table_schema: TableSchema = Field(alias="schema")
    since: TableSnapshot | None = None
    """For an incremental read: rows gained after this snapshot are the batch."""


class SourceBuild(Noun):
    """Read files: the glob is relative to the lake's root unless it is absolute."""

    build: Literal["source"] = "source"
    source: Word
    format: SourceFormat
    path: str
    options: dict[str, str] = Field(default_factory=dict)
    position: SourcePosition | None = None
    """Where the base version stopped reading."""
    url: str = ""
    object: str = ""
    """What of a database is read: ``schema.table``."""
    secrets: dict[str, str] = Field(default_factory=dict)
    header: tuple[str, ...] = ()
    malformed: Malformed = Malformed.REFUSE
    landing: bool = False


class SqlBuild(Noun):
    """One SELECT over views, each bound to a pinned input."""

    build: Literal["sql"] = "sql"
    text: str
    views: dict[str, InputPin]


class PythonBuild(Noun):
    """A function over inputs by dataset name, each pinned."""

    build: Literal["python"] = "python"
    file: str
    function: str
    sha256: str
    inputs: dict[str, InputPin]


class FrameBuild(Noun):
    """The frame is handed in by the program that publishes it."""

    build: Literal["frame"] = "frame"


Build = Annotated[
    SourceBuild | SqlBuild | PythonBuild | FrameBuild | QuarantineBuild,
    Field(discriminator="build"),
]


class Window(Noun):
    """A back-fill: only rows from ``start`` to ``end`` of a column, both included."""

    column: str
    start: str
    end: str


class RunPlan(Noun):
    """All that a data plane needs to do one run, fixed when the run opened."""

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
    """Relative to ``location``: one folder per attempt."""
    definition_hash: str
    settings: dict[str, str] = Field(default_factory=dict)
    """Details of job, dataset, target and source, resolved; secrets are references."""
    format: TargetFormat = TargetFormat.DELTA
    database: DatabaseTable | None = None
    """The live table that follows the dataset, where its target is a database."""
    partition_by: tuple[str, ...] = ()
    transform: str = ""
    as_of: Instant | None = None
    """When the task was given: the same for every attempt."""
    window: Window | None = None
    watermark: str | None = None
    """How far the base version had read, where the load has a watermark."""
    proven: tuple[str, ...] = ()
    """Keys of measures that count duplicates in the whole table, of which the base has none."""
    references: tuple[InputPin, ...] = ()
    """Datasets that keys refer to, each at the version that it is held against."""
    private: tuple[str, ...] = ()
    """Columns, of inputs too, whose values no message may tell."""
    masked: tuple[str, ...] = ()
    """Columns of the table whose values no sample may tell."""
    unstated: tuple[str, ...] = ()
    """Columns of the table whose least and greatest values no statistics may tell."""
    required: tuple[str, ...] = ()
    """Columns in which the rules of the run allow no NULL."""
    aside: tuple[AsideRule, ...] = Field(default=(), exclude_if=lambda rules: not rules)
    """Rules whose failing rows are kept out of the table, in the order of their ids."""

    def under(self, verdict: SchemaVerdict) -> RunPlan:
        """The plan that the run goes on with after the verdict on its schema."""
        if verdict.declared is None:
            return self
        return self.model_copy(
            update={
                "declared": verdict.declared,
                "measures": verdict.measures or self.measures,
                "aside": self.aside if verdict.aside is None else verdict.aside,
                "private": tuple(sorted({*self.private, *verdict.private})),
                "masked": tuple(sorted({*self.masked, *verdict.masked})),
                "unstated": tuple(sorted({*self.unstated, *verdict.unstated})),
            }
        )

    @property
    def batch_schema(self) -> TableSchema:
        """What a batch must bring."""
        return TableSchema(columns=batch_columns(self.load, self.declared.columns))

    @property
    def table_schema(self) -> TableSchema:
        """What the table has: the declared columns, then those that the load writes."""
        return TableSchema(columns=self.declared.columns + load_columns(self.load))

    @property
    def pins(self) -> tuple[InputPin, ...]:
        """Every pinned input of the build."""
        match self.build:
            case SqlBuild(views=pinned) | PythonBuild(inputs=pinned):
                return tuple(pinned.values())
        return ()


class SchemaReaction(Noun):
    """One difference between the live and the declared schema, and the answer to it."""

    column: str
    change: SchemaChange
    found: str | None
    declared: str | None
    reaction: Reaction
    other: str = Field(default="", exclude_if=lambda name: not name)
    """What the live schema calls the column, where it is, or may be, another name."""
    why: str = Field(default="", exclude_if=lambda reason: not reason)
    """What else than the profile answered so."""


class SchemaVerdict(Noun):
    accepted: bool
    differences: tuple[SchemaReaction, ...]
    result: RunResult | None = None
    """Set when the difference ended the run."""
    declared: TableSchema | None = Field(default=None, exclude_if=lambda schema: schema is None)
    """What the run goes on with in the place of its plan's columns, where it accepted others."""
    measures: tuple[Measure, ...] = Field(default=(), exclude_if=lambda asked: not asked)
    """What is then to be measured in the place of its plan's measures."""
    pinned: str = Field(default="", exclude_if=lambda found: not found)
    """Hash of the policies and tags that hold for those columns, in the place of its opening's."""
    private: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Columns, beside those of its plan, whose values no message may tell."""
    masked: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Columns, beside those of its plan, whose values no sample may tell."""
    unstated: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Columns, beside those of its plan, whose extremes no statistics may tell."""
    aside: tuple[AsideRule, ...] | None = Field(default=None, exclude_if=lambda said: said is None)
    """Rules that then set rows aside, in the place of its plan's; None where those stay."""


class Failure(Noun):
    code: str
    message: str
    retryable: bool = False


def failure_of(error: LakeGuardError) -> Failure:
    """The error as it is kept and told."""
    return Failure(code=error.code, message=str(error), retryable=error.retryable)


class Intent(Noun):
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
    """What the commit does to the table: FULL replaces all of it, APPEND none, any other some."""
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    adds: tuple[StagedFile, ...] = ()
    removes: tuple[str, ...] = ()
    target_commit: int | None = None
    """For a rollback: the commit whose state is shown again."""


class RunResult(Noun):
    """How a run ended; the same completion again gives the same result."""

    run_id: str
    dataset: DatasetName
    status: RunStatus
    version: int | None = None
    rows: int | None = None
    inputs: tuple[InputVersion, ...] = ()
    error: Failure | None = None
    decision: Decision | None = None
    ended_at: Instant


class LeftBehind(Noun):
    """An attempt that nobody went on with, and what became of it."""

    task_id: str
    run_id: str
    name: str
    """Of its job, else of its dataset."""
    worker: WorkerIdentity | None = None
    begun_at: Instant
    lease_expires_at: Instant | None = None
    reason: str
    """Why it was held for dead."""
    state: TaskState
    """What its task is now."""
    version: int | None = None
    """Of its commit, where that stood already: it was adopted."""


SchemaVerdict.model_rebuild()
