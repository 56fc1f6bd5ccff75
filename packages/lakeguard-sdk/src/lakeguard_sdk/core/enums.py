"""Enums shared by both planes."""

from __future__ import annotations

from enum import StrEnum


class Layer(StrEnum):
    BRONZE = "bronze"
    SILVER = "silver"
    GOLD = "gold"

    @property
    def height(self) -> int:
        return list(Layer).index(self)


SOURCE_LAYER = "source"
"""``from_layer`` of an ingest into bronze."""


class RunStatus(StrEnum):
    """Terminal: a run in flight has no row in ``run_history``."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    BLOCKED = "BLOCKED"


class Severity(StrEnum):
    WARN = "WARN"
    FAIL = "FAIL"


class Enforcement(StrEnum):
    BLOCK = "BLOCK"
    ALERT = "ALERT"


class PolicyType(StrEnum):
    """The subject of a policy; each type has its own expressions."""

    SCHEMA = "SCHEMA"
    PII = "PII"
    SLA = "SLA"
    OWNERSHIP = "OWNERSHIP"
    RULE_COVERAGE = "RULE_COVERAGE"
    LINEAGE_PARENT = "LINEAGE_PARENT"
    VOLUME_CAP = "VOLUME_CAP"
    QUARANTINE_BUDGET = "QUARANTINE_BUDGET"
    NAMING = "NAMING"
    CHANGE_FREEZE = "CHANGE_FREEZE"


class Verdict(StrEnum):
    ALLOWED = "ALLOWED"
    BLOCKED = "BLOCKED"


class Outcome(StrEnum):
    """The outcome of one check. ERROR blocks like FAIL: the gate fails closed."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    WARN = "WARN"
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_EVALUATED = "NOT_EVALUATED"


class CheckKind(StrEnum):
    """In the order in which the gate evaluates and lists checks."""

    ELIGIBILITY = "eligibility"
    SCHEMA = "schema"
    POLICY = "policy"
    RULE = "rule"


class Lifecycle(StrEnum):
    """Where a dataset is in its life. Only an active or deprecated one is built and read."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    """Still built; whoever builds on it is warned."""
    RETIRED = "retired"


class LoadType(StrEnum):
    FULL = "FULL"
    APPEND = "APPEND"
    INCREMENTAL = "INCREMENTAL"
    PARTITION = "PARTITION"
    SCD2 = "SCD2"
    SNAPSHOT = "SNAPSHOT"
    CDC = "CDC"


class HashStrategy(StrEnum):
    NONE = "NONE"
    ROW_HASH = "ROW_HASH"
    KEY_HASH = "KEY_HASH"


class Deletes(StrEnum):
    """Whether a deleted row is removed or marked as deleted."""

    HARD = "hard"
    SOFT = "soft"


class NullWatermark(StrEnum):
    """Whether a row without a watermark fails the run, is skipped, or is read every time."""

    REFUSE = "refuse"
    SKIP = "skip"
    LOAD = "load"


class LateRows(StrEnum):
    """Whether rows of new files below the watermark are loaded, or skipped and counted."""

    LOAD = "load"
    SKIP = "skip"


class Malformed(StrEnum):
    """Whether a malformed line fails the whole file or is quarantined."""

    REFUSE = "refuse"
    QUARANTINE = "quarantine"


class TargetFormat(StrEnum):
    DELTA = "delta"
    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"
    POSTGRESQL = "postgresql"


BUILT_IN_PROFILES = ("default", "strict", "backward", "forward", "full", "additive", "permissive")
"""Schema profiles that need no definition."""


class SourceFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    DELTA = "delta"
    JDBC = "jdbc"
    OTHER = "other"
    """Registered, but nothing here reads it; the definition's ``source_type`` names it."""


TEXT_FORMATS = frozenset({SourceFormat.CSV, SourceFormat.JSONL})
"""Formats parsed from text: a string may be cast to any declared type."""


CSV_ENCODINGS = ("UTF-8", "ISO-8859-1", "US-ASCII", "windows-1252")
"""Encodings of CSV sources, case-insensitive."""


class Scope(StrEnum):
    """Rows that a rule checks: those of this run, or the whole table after the publish."""

    BATCH = "batch"
    TABLE = "table"


class MoveKind(StrEnum):
    PUBLISH = "publish"
    ROLLBACK = "rollback"
    COMPACTION = "compaction"
    ADOPTION = "adoption"


class CommitKind(StrEnum):
    """The purpose of a LakeGuard commit, recorded in the commit."""

    CREATE = "create"
    PUBLISH = "publish"
    RESTORE = "restore"
    COMPACT = "compact"
    """Files are merged; no row changes."""
    ADOPT = "adopt"
    """An existing table becomes governed; its files do not change."""
    FENCE = "fence"
    """Takes the commit number of an ended run, so that its commit can no longer land."""


class TaskState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """May be retried, automatically at ``due_at`` or manually."""
    BLOCKED = "blocked"
    """A gate refused the launch or the publish."""
    CANCELED = "canceled"
    DEAD = "dead"
    """Its attempts are exhausted; other tasks continue."""


class StreamState(StrEnum):
    """State of a streaming query, as its program reports it."""

    RUNNING = "running"
    ENDED = "ended"
    """It was stopped, or read all that there was."""
    BLOCKED = "blocked"
    """A gate refused a micro-batch."""
    FAILED = "failed"


class TaskKind(StrEnum):
    """Determines who runs a task."""

    BUILD = "build"
    PYTHON = "python"
    HTTP = "http"
    ROLLBACK = "rollback"
    COMPACTION = "compaction"
    ADOPTION = "adoption"


class CauseKind(StrEnum):
    """What launched a task."""

    CRON = "cron"
    UPDATE = "update"
    FILES = "files"
    EVENT = "event"
    AFTER = "after"
    MANUAL = "manual"
    """Launched by a person, with their parameters."""
    INVALIDATION = "invalidation"


BUILD_JOB_TYPES = ("build", "ingest", "ingestion", "load", "transform", "curation")
"""Types of a job that builds its dataset; all but the first are words of metadata tables."""

QUEUED_KINDS = (TaskKind.BUILD, TaskKind.PYTHON, TaskKind.HTTP)
"""Kinds that workers claim from the queue; the caller runs the others."""


class PromotionState(StrEnum):
    """Promotion state of a dataset towards its layer (seed 000)."""

    REGISTERED = "REGISTERED"
    ELIGIBLE = "ELIGIBLE"
    PROMOTED = "PROMOTED"
    BLOCKED = "BLOCKED"


class TableProblem(StrEnum):
    """What is wrong with a governed table."""

    DAMAGE = "DAMAGE"
    """A file is missing, or is not the one that was published."""
    FOREIGN_COMMIT = "FOREIGN_COMMIT"
    """A commit without a decision changed data."""
    LOG = "LOG"
    """The Delta log is not the one that was recorded."""


class FindingState(StrEnum):
    FOUND = "FOUND"
    GONE = "GONE"
