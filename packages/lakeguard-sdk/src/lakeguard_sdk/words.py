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
    SCHEMA = "SCHEMA"
    PII = "PII"


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


RUNNABLE_LOADS = frozenset({LoadType.FULL, LoadType.APPEND})
"""What a data plane of this version can do; the others can be registered, and block a run."""


class HashStrategy(StrEnum):
    NONE = "NONE"
    ROW_HASH = "ROW_HASH"
    KEY_HASH = "KEY_HASH"


class TargetFormat(StrEnum):
    DELTA = "delta"
    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


BUILT_IN_PROFILES = ("default", "strict", "backward", "forward", "full", "additive", "permissive")
"""Schema profiles that exist without being defined."""


class SourceFormat(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"


CSV_ENCODINGS = ("UTF-8", "ISO-8859-1", "US-ASCII", "windows-1252")
"""What a CSV source may be written in; upper and lower case are the same."""


class Scope(StrEnum):
    """Rows a rule looks at: those of this run, or the table as the publish would leave it."""

    BATCH = "batch"
    TABLE = "table"


class MoveKind(StrEnum):
    PUBLISH = "publish"
    ROLLBACK = "rollback"


class TaskState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"


class PromotionState(StrEnum):
    """Seed 000's promotability of a dataset towards its layer."""

    REGISTERED = "REGISTERED"
    ELIGIBLE = "ELIGIBLE"
    PROMOTED = "PROMOTED"
    BLOCKED = "BLOCKED"
