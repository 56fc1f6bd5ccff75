"""Alerts: what somebody should hear of without asking, and how far the telling has got."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field

from lakeguard_sdk.core.canonical_json import content_hash, format_instant
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.core.frozen_model import Instant, Noun

# Telling: how far a channel has got with what is to be told.


class TellingOutcome(StrEnum):
    """What one attempt to tell something came to."""

    SENT = "sent"
    FAILED = "failed"
    """It is tried again later."""
    DEAD = "dead"
    """It was tried as often as the channel allows."""


class Telling(Noun):
    """How far one channel has got with a piece of news."""

    channel: str
    outcome: TellingOutcome
    attempts: int
    tried_at: Instant
    error: str | None = None


class ChannelTurn(Noun):
    """What a channel did when it was its turn."""

    channel: str
    sent: int = 0
    failed: int = 0
    waiting: int = 0
    """What it has still to tell; what it gave up is not counted."""
    problem: str | None = None
    """Why it did not, or not all."""


class AlertKind(StrEnum):
    """What an alert tells."""

    BLOCKED = "blocked"
    """A decision let nothing become visible."""
    RULE = "rule"
    """A rule that only warns did not pass, or a waiver made it one that only warns."""
    POLICY = "policy"
    """A policy that only alerts is broken."""
    LATE = "late"
    """A promise about time is broken, whether a run comes or not."""
    FAILED = "failed"
    """A run failed, and nobody tries it again by itself."""
    ROLLBACK = "rollback"
    """An earlier version is shown again."""
    TEST = "test"
    """Nothing happened: somebody tries a channel."""


class Alert(Noun):
    """One thing to tell. It holds no value of any row."""

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
    """The rule or the policy, where it is about one."""
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
    raised_at: Instant
    dedupe_key: str
    """Of what is told: the same thing has the same key, whoever tells it and however often."""

    @property
    def since(self) -> datetime:
        return self.raised_at

    @property
    def line(self) -> str:
        """Its own: no alert waits for another."""
        return self.alert_id


def alert_key(kind: AlertKind, *parts: str) -> str:
    return content_hash([kind.value, *parts])


class AlertRow(Noun):
    """An alert and the channels that tried it; a channel that has not tried yet is not named."""

    alert: Alert
    tellings: tuple[Telling, ...] = ()


class Alerts(Protocol):
    """Looking at alerts, finding those that no run tells, and telling them."""

    def rows(
        self, *, since: datetime | None = None, kind: AlertKind | None = None, limit: int = 50
    ) -> Sequence[AlertRow]:
        """The latest first."""

    def sweep(self) -> Sequence[Alert]:
        """Raise an alert for each promise that is broken now and was not told of yet."""

    def send(self, *, again: bool = False) -> Sequence[ChannelTurn]:
        """Tell what waits, now; with ``again`` also what was given up."""

    def test(self, channel: str) -> str:
        """Send a test alert by one channel, and answer with its id."""


# Events: what other systems hear of, in the shape of CloudEvents 1.0.

SPEC_VERSION = "1.0"
TYPE_PREFIX = "lakeguard."
CONTENT_TYPE = "application/cloudevents+json"


class EventKind(StrEnum):
    """What happened; of what happened at one moment, what stands first here is told first."""

    GRAPH_DEPLOYED = "graph.deployed"
    """Another version of the graph of jobs is the active one."""
    JOB_REFUSED = "job.refused"
    """A gate, or a job still under way, kept an execution from being started."""
    JOB_STARTED = "job.started"
    """A worker has an attempt of a job's execution."""
    DATASET_PUBLISHED = "dataset.published"
    """Readers see a new version."""
    DATASET_ROLLED_BACK = "dataset.rolled_back"
    """Readers see an earlier version again."""
    RUN_ENDED = "run.ended"
    """An attempt to build a dataset is over, whatever it came to."""
    JOB_ENDED = "job.ended"
    """An attempt of a job's execution is over; its state says how, and whether it is tried
    again."""
    TASK_DEAD = "task.dead"
    """A task failed as often as it may."""
    INVALIDATION_OPENED = "invalidation.opened"
    """Something has to be built again."""
    INVALIDATION_DONE = "invalidation.done"
    """All that depends on it has caught up."""
    TEST = "channel.test"
    """Nothing happened: somebody tries a channel."""


class Event(Noun):
    """One thing that happened. It holds no value of any row."""

    event_id: str
    kind: EventKind
    organisation: str
    subject: str
    """What it happened to, such as ``dataset/silver.flights``; events of one subject are told in
    the order in which they happened."""
    data: dict[str, Any] = Field(default_factory=dict)
    happened_at: Instant

    @property
    def since(self) -> datetime:
        return self.happened_at

    @property
    def line(self) -> str:
        return self.subject

    def to_cloud(self) -> dict[str, Any]:
        """The event as others read it; the same bytes of JSON whenever it is told."""
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
    """Of what happened alone: whoever tells of it, and however often, the id is the same."""
    told = content_hash([organisation, kind.value, *parts]).rpartition(":")[2]
    return f"evt_{told[:32]}"


class EventRow(Noun):
    """An event, the channels that tried it, and those that have still to."""

    event: Event
    tellings: tuple[Telling, ...] = ()
    waiting: tuple[str, ...] = ()
    """Channels that it is for and that have not tried it yet."""


class Events(Protocol):
    """Looking at events and telling them."""

    def rows(
        self, *, since: datetime | None = None, kind: EventKind | None = None, limit: int = 50
    ) -> Sequence[EventRow]:
        """The latest first."""

    def tell(self) -> int:
        """Tell what is due, within seconds; how many events went out."""

    def send(self, *, again: bool = False) -> Sequence[ChannelTurn]:
        """Tell what waits, now; with ``again`` also what was given up."""

    def test(self, channel: str) -> str:
        """Send a test event by one channel, and answer with its id."""
