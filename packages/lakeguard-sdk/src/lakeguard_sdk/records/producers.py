"""Producers emit records through one runner, which never fails the work that it reports on."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.records.record import MetadataContext, MetadataRecord, MetadataTarget
from lakeguard_sdk.records.repository import MetadataRepository

_logger = logging.getLogger(__name__)


class MetadataRequest(FrozenModel):
    """What a producer is asked about."""

    target: MetadataTarget
    context: MetadataContext
    kinds: tuple[str, ...] = ()
    """Of these only; of all that the producer has if empty."""


class MetadataProducer(Protocol):
    """One subsystem that knows facts, as a pipeline or a collector of schemas."""

    @property
    def producer_id(self) -> str:
        """``name.vN``."""

    @property
    def kinds(self) -> Sequence[str]: ...
    def supports(self, request: MetadataRequest) -> bool:
        """Whether the producer knows this kind of target; asked before ``produce``."""

    def produce(self, request: MetadataRequest) -> Iterable[MetadataRecord]: ...


class Unstored(StrEnum):
    """Why a producer stored nothing, or not all."""

    CAPABILITY_MISSING = "capability_missing"
    """It has none of the kinds."""
    UNSUPPORTED_TARGET = "unsupported_target"
    PRODUCER_UNAVAILABLE = "producer_unavailable"
    """It failed."""
    NO_RECORDS = "no_records"
    STORE_SKIPPED = "store_skipped"
    """The repository refused the records, or could not be reached."""


class ProducerOutcome(FrozenModel):
    producer_id: str
    produced: int = 0
    stored: int = 0
    """Without those that were there already."""
    reason: Unstored | None = None
    error: str | None = Field(default=None, max_length=2000)


class MetadataProducerRunner:
    """Asks producers, and stores what they know."""

    def __init__(self, repository: MetadataRepository) -> None:
        self._repository = repository

    def run(
        self, producers: Iterable[MetadataProducer], request: MetadataRequest
    ) -> tuple[ProducerOutcome, ...]:
        return tuple(self._outcome(producer, request) for producer in producers)

    def _outcome(self, producer: MetadataProducer, request: MetadataRequest) -> ProducerOutcome:
        producer_id = producer.producer_id
        if request.kinds and not set(request.kinds) & set(producer.kinds):
            return ProducerOutcome(producer_id=producer_id, reason=Unstored.CAPABILITY_MISSING)
        try:
            if not producer.supports(request):
                return ProducerOutcome(producer_id=producer_id, reason=Unstored.UNSUPPORTED_TARGET)
            found = [
                record
                for record in producer.produce(request)
                if not request.kinds or record.kind in request.kinds
            ]
        except Exception as error:  # noqa: BLE001 - a producer never fails the pipeline
            return self._failed(producer_id, Unstored.PRODUCER_UNAVAILABLE, error)
        if not found:
            return ProducerOutcome(producer_id=producer_id, reason=Unstored.NO_RECORDS)
        try:
            stored = self._repository.bulk_store(found)
        except Exception as error:  # noqa: BLE001 - nor does the repository
            return self._failed(producer_id, Unstored.STORE_SKIPPED, error, len(found))
        return ProducerOutcome(
            producer_id=producer_id,
            produced=len(found),
            stored=sum(each.is_new for each in stored),
        )

    def _failed(
        self, producer_id: str, reason: Unstored, error: Exception, produced: int = 0
    ) -> ProducerOutcome:
        _logger.warning("producer %s: %s: %s", producer_id, reason, error)
        return ProducerOutcome(
            producer_id=producer_id, produced=produced, reason=reason, error=str(error)[:2000]
        )
