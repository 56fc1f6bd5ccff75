"""Notifications: alerts for people, events for other systems, and their delivery by channels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from pydantic import Field

from lakeguard_sdk.core.canonical_json import content_hash, format_instant
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class Topic(StrEnum):
    """For whom a notification is."""

    ALERT = "alert"
    """People who have to act; always recorded."""
    EVENT = "event"
    """Other systems; recorded once an event channel is open."""


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


# Alerts.


class AlertKind(StrEnum):
    """What an alert is about."""

    BLOCKED = "blocked"
    """A decision blocked a run."""
    RULE = "rule"
    """A WARN rule, or a waived rule, did not pass."""
    POLICY = "policy"
    """An ALERT policy is violated."""
    COLUMN = "column"
    """A run found a column that is not declared, and left it out."""
    LATE = "late"
    """An SLA is violated, with or without a run."""
    FAILED = "failed"
    """A run failed and is not retried automatically."""
    ROLLBACK = "rollback"
    """An earlier version is published again."""
    DAMAGED = "damaged"
    """A table is damaged or shows data without a decision, or no longer."""
    TEST = "test"
    """Test of a channel."""


class Alert(FrozenModel):
    """A notification about a dataset. It contains no row values."""

    topic: ClassVar[Topic] = Topic.ALERT

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
    def notification_id(self) -> str:
        return self.alert_id

    @property
    def subject(self) -> str:
        return f"dataset/{self.dataset}"

    @property
    def sequence(self) -> str:
        """Alerts are not ordered: each is a sequence of its own."""
        return self.alert_id


def alert_key(kind: AlertKind, *parts: str) -> str:
    return content_hash([kind.value, *parts])


class AlertRow(FrozenModel):
    """An alert and its deliveries; channels that have not tried yet are absent."""

    alert: Alert
    deliveries: tuple[ChannelDelivery, ...] = ()

    @property
    def notification(self) -> Alert:
        return self.alert


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
    """A notification that something happened. It contains no row values."""

    topic: ClassVar[Topic] = Topic.EVENT

    event_id: str
    kind: EventKind
    organisation: str
    subject: str
    """Such as ``dataset/silver.flights``; events of one subject are sent in order."""
    data: dict[str, Any] = Field(default_factory=dict)
    happened_at: Instant

    @property
    def notification_id(self) -> str:
        return self.event_id

    @property
    def raised_at(self) -> datetime:
        return self.happened_at

    @property
    def dedupe_key(self) -> str:
        """Its id, which is derived from its content."""
        return self.event_id

    @property
    def sequence(self) -> str:
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
    deliveries: tuple[ChannelDelivery, ...] = ()
    waiting: tuple[str, ...] = ()
    """Channels that have not tried to send it yet."""

    @property
    def notification(self) -> Event:
        return self.event


# Both topics.

Notification = Alert | Event
"""Notifications of one ``sequence`` are sent in order: a failure holds up those after it."""

NotificationRow = AlertRow | EventRow


class Notifications(Protocol):
    """Lists, raises and sends notifications."""

    def rows(
        self,
        topic: Topic | None = None,
        *,
        since: datetime | None = None,
        kind: AlertKind | EventKind | None = None,
        limit: int = 50,
    ) -> Sequence[NotificationRow]:
        """Newest first, of one topic or of both."""

    def sweep(self) -> Sequence[Alert]:
        """Raises an alert for each SLA violation that has none yet."""

    def send(self, topic: Topic, *, again: bool = False) -> Sequence[ChannelResult]:
        """Sends what waits now; with ``again``, dead notifications too."""

    def send_due(self, topic: Topic) -> int:
        """Sends what is due, for a few seconds at most; returns how many were sent."""

    def test(self, topic: Topic, channel: str) -> str:
        """Sends a test message through one channel; returns its delivery id."""
