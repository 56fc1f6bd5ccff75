"""Alerts: what somebody should hear of without asking, and how far the telling has got."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import Field

from lakeguard_sdk.canonical import content_hash
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.telling import ChannelTurn, Telling
from lakeguard_sdk.words import Layer, Severity


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
