"""Alerts and events, and their delivery to channels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field

from lakeguard_sdk.core.canonical_json import content_hash, format_instant
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant

# Delivery of a notification by a channel.


class DeliveryOutcome(StrEnum):
    """Outcome of one delivery attempt."""

    SENT = "sent"
    FAILED = "failed"
    """Will be retried."""
    DEAD = "dead"
    """The channel's attempts are exhausted."""


class ChannelDelivery(FrozenModel):
    """Delivery state of one notification in one channel."""

    channel: str
    outcome: DeliveryOutcome
    attempts: int
    tried_at: Instant
    error: str | None = None


class ChannelResult(FrozenModel):
    """Result of one delivery pass of a channel."""

    channel: str
    sent: int = 0
    failed: int = 0
    waiting: int = 0
    """Notifications still to be sent, without dead ones."""
    problem: str | None = None
    """Why not all were sent."""


class AlertKind(StrEnum):
    """What an alert is about."""

    BLOCKED = "blocked"
    """A decision blocked a run."""
    RULE = "rule"
    """A WARN rule, or a waived rule, did not pass."""
    POLICY = "policy"
    """An ALERT policy is violated."""
    LATE = "late"
    """An SLA is violated, with or without a run."""
    FAILED = "failed"
    """A run failed and is not retried automatically."""
    ROLLBACK = "rollback"
    """An earlier version is published again."""
    TEST = "test"
    """Test of a channel."""


class Alert(FrozenModel):
    """A notification about a dataset. It contains no row values."""

    alert_id: str
    kind: AlertKind
    severity: Severity
    organisation: str
    dataset: DatasetName
    """Its name when the alert was raised."""
    dataset_id: str
    layer: Layer
    domain: str
    owner: str
    run_id: str | None = None
    decision_id: str | None = None
    check: str | None = None
    """The rule or policy, if it is about one."""
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
    raised_at: Instant
    dedupe_key: str
    """Equal for equal content, regardless of who raises it and how often."""

    @property
    def since(self) -> datetime:
        return self.raised_at

    @property
    def line(self) -> str:
        """Alerts are not ordered: each has its own line."""
        return self.alert_id


def alert_key(kind: AlertKind, *parts: str) -> str:
    return content_hash([kind.value, *parts])


class AlertRow(FrozenModel):
    """An alert and its deliveries; channels that have not tried yet are absent."""

    alert: Alert
    tellings: tuple[ChannelDelivery, ...] = ()


class Alerts(Protocol):
    """Lists, raises and sends alerts."""

    def rows(
        self, *, since: datetime | None = None, kind: AlertKind | None = None, limit: int = 50
    ) -> Sequence[AlertRow]:
        """Newest first."""

    def sweep(self) -> Sequence[Alert]:
        """Raises an alert for each SLA violation that has none yet."""

    def send(self, *, again: bool = False) -> Sequence[ChannelResult]:
        """Sends waiting alerts now; with ``again``, dead ones too."""

    def test(self, channel: str) -> str:
        """Sends a test alert to one channel; returns its id."""


# Events for other systems, in CloudEvents 1.0 format.

SPEC_VERSION = "1.0"
TYPE_PREFIX = "lakeguard."
CONTENT_TYPE = "application/cloudevents+json"


class EventKind(StrEnum):
    """Events of the same instant are sent in the order of this enum."""

    GRAPH_DEPLOYED = "graph.deployed"
    """Another version of the job graph is active."""
    JOB_REFUSED = "job.refused"
    """A launch gate, or a running execution of the job, prevented a start."""
    JOB_STARTED = "job.started"
    """A worker claimed an attempt of a job."""
    DATASET_PUBLISHED = "dataset.published"
    """Readers see a new version."""
    DATASET_ROLLED_BACK = "dataset.rolled_back"
    """Readers see an earlier version again."""
    RUN_ENDED = "run.ended"
    """An attempt to build a dataset ended, with any status."""
    JOB_ENDED = "job.ended"
    """An attempt of a job ended; its state shows how, and whether it is retried."""
    TASK_DEAD = "task.dead"
    """The attempts of a task are exhausted."""
    INVALIDATION_OPENED = "invalidation.opened"
    """A dataset has to be rebuilt."""
    INVALIDATION_DONE = "invalidation.done"
    """All dependents have caught up."""
    TEST = "channel.test"
    """Test of a channel."""


class Event(FrozenModel):
    """It contains no row values."""

    event_id: str
    kind: EventKind
    organisation: str
    subject: str
    """Such as ``dataset/silver.flights``; events of one subject are sent in order."""
    data: dict[str, Any] = Field(default_factory=dict)
    happened_at: Instant

    @property
    def since(self) -> datetime:
        return self.happened_at

    @property
    def line(self) -> str:
        return self.subject

    def to_cloud(self) -> dict[str, Any]:
        """The event as CloudEvents JSON; the same for every delivery."""
        return {
            "specversion": SPEC_VERSION,
            "id": self.event_id,
            "source": f"/lakeguard/{self.organisation}",
            "type": f"{TYPE_PREFIX}{self.kind}",
            "subject": self.subject,
            "time": format_instant(self.happened_at),
            "datacontenttype": "application/json",
            "data": self.data,
        }


def event_id(organisation: str, kind: EventKind, *parts: str) -> str:
    """Derived from the content alone, so that the same event always has the same id."""
    digest = content_hash([organisation, kind.value, *parts]).rpartition(":")[2]
    return f"evt_{digest[:32]}"


class EventRow(FrozenModel):
    """An event with its deliveries and waiting channels."""

    event: Event
    tellings: tuple[ChannelDelivery, ...] = ()
    waiting: tuple[str, ...] = ()
    """Channels that have not tried to send it yet."""


class Events(Protocol):
    """Lists and sends events."""

    def rows(
        self, *, since: datetime | None = None, kind: EventKind | None = None, limit: int = 50
    ) -> Sequence[EventRow]:
        """Newest first."""

    def tell(self) -> int:
        """Sends due events, for a few seconds at most; returns how many were sent."""

    def send(self, *, again: bool = False) -> Sequence[ChannelResult]:
        """Sends waiting events now; with ``again``, dead ones too."""

    def test(self, channel: str) -> str:
        """Sends a test event to one channel; returns its id."""
