"""Rendering of ``status``: one line per dataset, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from lakeguard.cli.terminal.layout import (
    Tone,
    age,
    number,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.read_models import DatasetStatus


class Badge(Enum):
    """Worst first. Word and symbol carry the meaning; colour only repeats it."""

    BLOCKED = ("✗", "BLOCKED", Tone.BAD)
    FAILED = ("!", "FAILED", Tone.BAD)
    LATE = ("◷", "LATE", Tone.WARN)
    ROLLED_BACK = ("↶", "ROLLED BACK", Tone.WARN)
    EMPTY = ("○", "EMPTY", Tone.WARN)
    OK = ("✓", "OK", Tone.GOOD)
    OFF = ("-", "OFF", Tone.QUIET)

    def __str__(self) -> str:
        shape, word, tone = self.value
        return toned(f"{shape} {word}", tone)

    @property
    def badness(self) -> int:
        return list(Badge).index(self)


@dataclass(frozen=True)
class Health:
    """A dataset with its badge."""

    status: DatasetStatus

    @property
    def name(self) -> DatasetName:
        return self.status.dataset.dataset_name

    @property
    def badge(self) -> Badge:
        return badge_of(self.status)

    def to_data(self) -> dict[str, object]:
        return {"health": self.badge.name, **self.status.to_data()}


def badge_of(status: DatasetStatus) -> Badge:
    """The worst applicable badge."""
    last = status.last_run
    if not status.dataset.active:
        return Badge.OFF
    if last is not None and last.status is RunStatus.BLOCKED:
        return Badge.BLOCKED
    if last is not None and last.status is RunStatus.FAILED:
        return Badge.FAILED
    if status.breaches:
        return Badge.LATE
    if status.published is None:
        return Badge.EMPTY
    return Badge.ROLLED_BACK if status.rolled_back else Badge.OK


def worst_first(healths: Sequence[Health]) -> list[Health]:
    return sorted(healths, key=lambda item: (item.badge.badness, item.name.layer.height, item.name))


def status_lines(healths: Sequence[Health], now: datetime) -> list[str]:
    if not healths:
        return ["no datasets are registered", "Next: lakeguard apply"]
    rows = [_cells(item, now) for item in worst_first(healths)]
    headers = ("HEALTH", "DATASET", "VERSION", "ROWS", "PUBLISHED", "LAST RUN", "OWNER")
    broken = [*_late(healths), *_alerts(healths), *_waiting(healths, now)]
    lines = [*table(headers, rows, right=frozenset({3})), ""]
    return [*lines, *broken, *([""] if broken else []), *_summary(healths)]


def _late(healths: Sequence[Health]) -> list[str]:
    """SLA breaches, whatever the badge."""
    return [
        f"late: {item.name}  {breach.message}  (policy {breach.policy}: {breach.expression})"
        for item in worst_first(healths)
        for breach in item.status.breaches
    ]


def _alerts(healths: Sequence[Health]) -> list[str]:
    """ALERT policies that the published version violates."""
    return [
        f"alert: {item.name} v{item.status.published}  {escaped(alert.message)}"
        f"  (policy {alert.policy}: {escaped(alert.expression)})"
        for item in worst_first(healths)
        for alert in item.status.alerts
    ]


def _waiting(healths: Sequence[Health], now: datetime) -> list[str]:
    """Quarantined rows, with the command that lists them."""
    return [
        f"quarantine: {item.name}  {plural(item.status.quarantined, 'row')}, oldest"
        f" {age(item.status.quarantined_since, now)}; lakeguard quarantine list {item.name}"
        for item in worst_first(healths)
        if item.status.quarantined and item.status.quarantined_since is not None
    ]


def _cells(health: Health, now: datetime) -> list[str]:
    status = health.status
    published, last = status.published, status.last_run
    return [
        str(health.badge),
        health.name,
        "-" if published is None else f"v{published}",
        "-" if status.table_rows is None else number(status.table_rows),
        "-" if status.published_at is None else age(status.published_at, now),
        "never" if last is None else age(last.end_time, now),
        escaped(status.dataset.owner),
    ]


def _summary(healths: Sequence[Health]) -> list[str]:
    ill = [item for item in worst_first(healths) if item.badge in (Badge.BLOCKED, Badge.FAILED)]
    count = plural(len(healths), "dataset")
    if not ill:
        return [count]
    return [
        f"{count}, {len(ill):,} blocked or failed",
        f"Next: lakeguard why {ill[0].name}",
    ]
