"""Records for tests of a ``MetadataRepository``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import IngestionVolume, QualityResult, QualityStatus
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import (
    MetadataContext,
    MetadataEnvironment,
    MetadataRecord,
    MetadataTarget,
)
from lakeguard_sdk.records.repository import MetadataRepository

TENANT = "default"
VOLUME = IngestionVolume.KIND
START = datetime(2026, 1, 1, tzinfo=UTC)
FLIGHTS = MetadataTarget(source_id="warehouse", schema_="public", table="flights")
AIRLINES = MetadataTarget(source_id="warehouse", schema_="public", table="airlines")

Refusal = TypeVar("Refusal", bound=LakeGuardError)


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def volume(
    run: str | None = "run-1",
    rows: int = 1,
    *,
    hours: float = 0,
    target: MetadataTarget = FLIGHTS,
    namespace: str = "default",
    tenant: str = TENANT,
    version: int = 1,
    producer: str = "ingestion.v1",
    quality: dict[str, Any] | None = None,
    **extras: Any,
) -> MetadataRecord:
    context = MetadataContext(
        environment=MetadataEnvironment(tenant=tenant), namespace=namespace, run_id=run
    )
    return IngestionVolume(rows=rows).record(
        target, context, produced_at=at(hours), producer_id=producer, version=version,
        quality=quality, extras=extras,
    )  # fmt: skip


def quality_check(check: str, *, run: str = "run-1", hours: float = 0) -> MetadataRecord:
    context = MetadataContext(environment=MetadataEnvironment(tenant=TENANT), run_id=run)
    return QualityResult(check=check, status=QualityStatus.PASS).record(
        FLIGHTS, context, produced_at=at(hours), producer_id="gate.v1"
    )


def seats(version: int = 1, **changes: Any) -> MetadataKind:
    """A kind that no repository has from the start."""
    schema = {
        "type": "object",
        "properties": {"free": {"type": "integer", "minimum": 0}},
        "required": ["free"],
        "additionalProperties": False,
    }
    given = {"kind": "seat_count", "version": version, "json_schema": schema} | changes
    return MetadataKind.model_validate(given)


def seat_count(payload: dict[str, Any], run: str = "run-1") -> MetadataRecord:
    return volume(run).model_copy(update={"kind": "seat_count", "payload": payload})


def refusal(error: type[Refusal], act: Callable[[], object]) -> Refusal:
    """The error that the call raises."""
    try:
        act()
    except error as raised:
        return raised
    raise AssertionError(f"{error.__name__} was not raised")


def read_tail(
    repository: MetadataRepository, cursor: str = "", limit: int = 3
) -> tuple[list[MetadataRecord], str]:
    """All that was stored since the cursor, and where to go on."""
    found: list[MetadataRecord] = []
    while True:
        page = repository.tail(cursor, limit)
        found += page.records
        cursor = page.cursor
        if len(page.records) < limit:
            return found, cursor


def read_pages(repository: MetadataRepository, query: MetadataQuery) -> list[MetadataRecord]:
    found: list[MetadataRecord] = []
    while True:
        page = repository.query(query)
        found += page.records
        if not page.next_page:
            return found
        query = query.model_copy(update={"page_token": page.next_page})
