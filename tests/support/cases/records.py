"""Records of tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from lakeguard_sdk.records.payloads import IngestionVolume, QualityResult, QualityStatus
from lakeguard_sdk.records.record import (
    MetadataContext,
    MetadataEnvironment,
    MetadataRecord,
    MetadataTarget,
)

FLIGHTS = MetadataTarget(source_id="warehouse", schema="public", table="flights")
AIRPORTS = MetadataTarget(source_id="warehouse", schema="public", table="airports")
START = datetime(2026, 1, 1, 6, tzinfo=UTC)


def context(run: str | None = "run_1", tenant: str = "default", **given: Any) -> MetadataContext:
    environment = MetadataEnvironment(tenant=tenant)
    return MetadataContext(environment=environment, run_id=run, **given)


def volume(
    rows: int = 10,
    *,
    run: str | None = "run_1",
    target: MetadataTarget = FLIGHTS,
    hours: float = 0,
    version: int = 1,
    tenant: str = "default",
    namespace: str = "default",
    extras: dict[str, Any] | None = None,
) -> MetadataRecord:
    return IngestionVolume(rows=rows).record(
        target,
        context(run, tenant, namespace=namespace),
        produced_at=START + timedelta(hours=hours),
        producer_id="ingestion.v1",
        version=version,
        extras=extras,
    )


def quality(check: str, status: QualityStatus = QualityStatus.PASS, **given: Any) -> MetadataRecord:
    tenant = given.pop("tenant", "default")
    return QualityResult(check=check, status=status).record(
        given.pop("target", FLIGHTS),
        context(given.pop("run", "run_1"), tenant),
        produced_at=START,
        producer_id="gate.v1",
        **given,
    )
