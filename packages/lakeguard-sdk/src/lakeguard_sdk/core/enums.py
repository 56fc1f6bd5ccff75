"""The closed sets of the language. A word that is not here does not exist."""

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
"""``from_layer`` of an ingest: what stands below bronze."""


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
    """What a policy is about; each type has its own forms of expression."""

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
    """What one check came to. ERROR blocks like FAIL: the gate fails closed."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    WARN = "WARN"
    FAIL = "FAIL"
    ERROR = "ERROR"
    NOT_EVALUATED = "NOT_EVALUATED"


class CheckKind(StrEnum):
    """The order in which the gate judges, and lists."""

    ELIGIBILITY = "eligibility"
    SCHEMA = "schema"
    POLICY = "policy"
    RULE = "rule"


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
    """Whether a deleted row leaves the table, or stays and says so."""

    HARD = "hard"
    SOFT = "soft"


class NullWatermark(StrEnum):
    """A row without a watermark fails the run, is left out, or is read every time."""

    REFUSE = "refuse"
    SKIP = "skip"
    LOAD = "load"


class LateRows(StrEnum):
    """Rows of new files that lie below the watermark are loaded, or left out and counted."""

    LOAD = "load"
    SKIP = "skip"


class Malformed(StrEnum):
    """A file with a bad line is refused whole, or its bad lines are kept aside."""

    REFUSE = "refuse"
    ASIDE = "aside"


class TargetFormat(StrEnum):
    DELTA = "delta"
    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"
    POSTGRESQL = "postgresql"


BUILT_IN_PROFILES = ("default", "strict", "backward", "forward", "full", "additive", "permissive")
"""Schema profiles that exist without being defined."""


class SourceFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    DELTA = "delta"
    JDBC = "jdbc"


TEXT_FORMATS = frozenset({SourceFormat.CSV, SourceFormat.JSONL})
"""What is read out of text: a string there may become any declared type."""


CSV_ENCODINGS = ("UTF-8", "ISO-8859-1", "US-ASCII", "windows-1252")
"""What a CSV source may be written in; upper and lower case are the same."""


class Scope(StrEnum):
    """Rows a rule looks at: those of this run, or the table as the publish would leave it."""

    BATCH = "batch"
    TABLE = "table"


class MoveKind(StrEnum):
    PUBLISH = "publish"
    ROLLBACK = "rollback"
    COMPACTION = "compaction"
    ADOPTION = "adoption"


class CommitKind(StrEnum):
    """What a commit of ours is for; it is written into the commit."""

    CREATE = "create"
    PUBLISH = "publish"
    RESTORE = "restore"
    COMPACT = "compact"
    """Files are merged, and no row changes."""
    ADOPT = "adopt"
    """A table that was there before is governed from now on; none of its files changes."""
    FENCE = "fence"
    """The number of a run that ended is taken, so that its commit can no longer land."""


class TaskState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """It may be tried again, by itself where a time is set for it, or when somebody says so."""
    BLOCKED = "blocked"
    """A gate said no, before the launch or before the publish."""
    CANCELED = "canceled"
    DEAD = "dead"
    """It failed as often as it may; others go on."""


class TaskKind(StrEnum):
    """What a task is, and so who runs it."""

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
    """A person did, and set what the launch set."""
    INVALIDATION = "invalidation"


QUEUED_KINDS = (TaskKind.BUILD, TaskKind.PYTHON, TaskKind.HTTP)
"""What workers take from the queue; the others are run by who asked for them."""


class PromotionState(StrEnum):
    """Seed 000's promotability of a dataset towards its layer."""

    REGISTERED = "REGISTERED"
    ELIGIBLE = "ELIGIBLE"
    PROMOTED = "PROMOTED"
    BLOCKED = "BLOCKED"
