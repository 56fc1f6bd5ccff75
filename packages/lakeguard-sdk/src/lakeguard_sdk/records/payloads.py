"""The kinds that come with the platform, and builders of their records.

Every attribute has one place. The run and the job are in the context; the time window, guardrails
and de-duplication of a load, by which consumers filter, are in the extras; all else is in the
payload.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.record import MetadataContext, MetadataRecord, MetadataTarget

Count = Field(default=None, ge=0)

QUARTER = 90
"""Days that records of every run are kept."""


class Extras(FrozenModel):
    """What consumers filter by."""

    window_start: Instant | None = None
    """Of the rows that a load or a check is about, inclusive."""
    window_end: Instant | None = None
    """Exclusive."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        start, end = self.window_start, self.window_end
        if start is not None and end is not None and end < start:
            raise ValueError("window_end is before window_start")
        return self


class GuardrailOutcome(StrEnum):
    OK = "ok"
    ADJUSTED = "adjusted"
    """Values were changed to fit, as a cast to string does."""
    FATAL = "fatal"
    UNKNOWN = "unknown"
    """Metadata was missing or unusable."""


class LoadExtras(Extras):
    guardrail: GuardrailOutcome | None = None
    guardrail_actions: tuple[str, ...] = ()
    duplicates_removed: int | None = Count
    rows_quarantined: int | None = Count


class Payload(FrozenModel):
    """The payload of a kind, and the description of the kind."""

    KIND: ClassVar[str]
    IDENTITY: ClassVar[tuple[str, ...]] = ()
    KEEP_DAYS: ClassVar[int | None] = QUARTER

    def record(
        self,
        target: MetadataTarget,
        context: MetadataContext,
        *,
        produced_at: datetime,
        producer_id: str,
        extras: Extras | dict[str, Any] | None = None,
        quality: dict[str, Any] | None = None,
        version: int = 1,
    ) -> MetadataRecord:
        return MetadataRecord(
            target=target,
            kind=self.KIND,
            payload=_given(self),
            produced_at=produced_at,
            producer_id=producer_id,
            context=context,
            version=version,
            quality=quality,
            extras=_given(extras) if isinstance(extras, Extras) else extras or {},
        )

    @classmethod
    def kind(cls) -> MetadataKind:
        return MetadataKind(
            kind=cls.KIND,
            description=(cls.__doc__ or "").strip().partition("\n")[0],
            json_schema=cls.model_json_schema(mode="validation"),
            identity=cls.IDENTITY,
            keep_days=cls.KEEP_DAYS,
        )


def _given(model: FrozenModel) -> dict[str, Any]:
    """Without what is not known."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class IngestionVolume(Payload):
    """How much one load brought, and from where it goes on."""

    KIND = "ingestion_volume"

    rows: int = Field(ge=0)
    """Rows that the load brought."""
    bytes: int | None = Count
    table_rows: int | None = Count
    """Rows of the whole table afterwards."""
    mode: str | None = None
    """The load type, as ``INCREMENTAL``."""
    filter: str | None = None
    """The condition that chose the rows or the slice."""
    watermark: str | None = None
    """The position in the source after the load."""
    dataset_id: str | None = None
    version: int | None = Field(default=None, ge=1)
    """The version of the dataset that the load published."""
    input_run_ids: tuple[str, ...] = ()


class RunOutcome(StrEnum):
    SUCCESS = "success"
    BLOCKED = "blocked"
    FAILED = "failed"
    SKIPPED = "skipped"


class IngestionRuntime(Payload):
    """How one load went, and how long it took."""

    KIND = "ingestion_runtime"

    status: RunOutcome
    duration_seconds: float | None = Count
    started_at: Instant | None = None
    ended_at: Instant | None = None
    retries: int = Field(default=0, ge=0)
    error: str | None = Field(default=None, max_length=2000)
    dataset_id: str | None = None


class ReconStatus(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"
    """The check could not be evaluated."""
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    SCHEDULED_SKIP = "scheduled_skip"
    """The check was not due."""


class Threshold(FrozenModel):
    """Limits of a difference; a check passes if it meets all that are given."""

    absolute: float | None = Count
    percent: float | None = Count


class Variability(FrozenModel):
    """How a learned band was computed."""

    method: str
    lookback_runs: int | None = Field(default=None, ge=1)
    smoothing: float | None = Field(default=None, ge=0, le=1)
    confidence: float | None = Field(default=None, ge=0, le=1)
    lower: float | None = None
    upper: float | None = None
    fallback: str | None = None
    """Why static thresholds were used instead, as too little history."""


class ReconResult(Payload):
    """The outcome of one reconciliation check."""

    KIND = "recon_result"
    IDENTITY = ("payload.check", "payload.scope")

    check: str = Field(min_length=1)
    status: ReconStatus
    metric: str | None = None
    """What was compared, as ``row_count``."""
    source_value: float | None = None
    target_value: float | None = None
    difference: float | None = None
    warn_at: Threshold | None = None
    fail_at: Threshold | None = None
    variability: Variability | None = None
    scope: dict[str, str] = Field(default_factory=dict)
    """The part that was compared after a drill-down, as ``{"year_month": "2026-01"}``."""
    levels: tuple[str, ...] = ()
    """Columns of the drill-down, coarse to fine."""
    filter: str | None = None
    baseline_run_ids: tuple[str, ...] = ()
    """Loads that supplied the baseline."""
    duration_seconds: float | None = Count
    reason: str | None = Field(default=None, max_length=2000)


class ColumnSnapshot(FrozenModel):
    name: str = Field(min_length=1)
    type: str
    nullable: bool | None = None
    comment: str | None = None


class SchemaSnapshot(Payload):
    """The columns of an artifact at one time."""

    KIND = "schema_snapshot"
    KEEP_DAYS = None

    columns: tuple[ColumnSnapshot, ...]
    schema_hash: str | None = None
    keys: tuple[str, ...] = ()
    partitioned_by: tuple[str, ...] = ()
    version: int | None = Field(default=None, ge=1)


class ColumnStatistics(FrozenModel):
    nulls: int | None = Count
    distinct: int | None = Count
    min: str | float | None = None
    max: str | float | None = None
    mean: float | None = None


class StatisticsSnapshot(Payload):
    """Size and column statistics of an artifact at one time."""

    KIND = "statistics_snapshot"

    rows: int | None = Count
    bytes: int | None = Count
    files: int | None = Count
    columns: dict[str, ColumnStatistics] = Field(default_factory=dict)
    version: int | None = Field(default=None, ge=1)


class CatalogChange(FrozenModel):
    change: str
    """As ``column_added``."""
    column: str | None = None
    before: str | None = None
    after: str | None = None
    breaking: bool = False


class CatalogDiff(Payload):
    """What changed between two snapshots of a schema."""

    KIND = "catalog_diff"
    KEEP_DAYS = None

    changes: tuple[CatalogChange, ...]
    before_hash: str | None = None
    after_hash: str | None = None


class Schedule(Payload):
    """When a job runs, and whether it kept its SLA."""

    KIND = "schedule"

    frequency: str | None = None
    """As ``daily``."""
    cron: str | None = None
    time_zone: str | None = None
    next_run_at: Instant | None = None
    sla_seconds: float | None = Count
    sla_met: bool | None = None


class QualityStatus(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    WARN = "warn"
    FAIL = "fail"
    WAIVED = "waived"
    ERROR = "error"
    NOT_EVALUATED = "not_evaluated"


class QualityResult(Payload):
    """The outcome of one quality check of a run."""

    KIND = "quality_result"
    IDENTITY = ("payload.check",)

    check: str = Field(min_length=1)
    status: QualityStatus
    severity: str | None = None
    failed_rows: int | None = Count
    total_rows: int | None = Count
    observed: float | str | None = None
    threshold: str | None = None
    message: str | None = Field(default=None, max_length=2000)
    dataset_id: str | None = None


PAYLOADS: tuple[type[Payload], ...] = (
    IngestionVolume,
    IngestionRuntime,
    ReconResult,
    SchemaSnapshot,
    StatisticsSnapshot,
    CatalogDiff,
    Schedule,
    QualityResult,
)


@cache
def shipped_kinds() -> tuple[MetadataKind, ...]:
    """Every repository has these from the start."""
    return tuple(payload.kind() for payload in PAYLOADS)
