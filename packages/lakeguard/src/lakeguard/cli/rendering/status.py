"""Rendering of ``status``: one line per dataset, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from lakeguard.cli.rendering.runs import dead_run_text
from lakeguard.cli.terminal.layout import (
    Tone,
    age,
    moment,
    number,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.read_models import DatasetStatus
from lakeguard_sdk.model.streams import StreamProgress, StreamStatus


class Badge(Enum):
    """Worst first. Word and symbol carry the meaning; colour only repeats it."""

    DAMAGED = ("⊘", "DAMAGED", Tone.BAD)
    BLOCKED = ("✗", "BLOCKED", Tone.BAD)
    FAILED = ("!", "FAILED", Tone.BAD)
    DEAD = ("†", "DEAD", Tone.BAD)
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
    if status.damage:
        return Badge.DAMAGED
    if status.open_run is not None and status.open_run.dead:
        return Badge.DEAD
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
    broken = [
        *_clock(healths, now),
        *_damaged(healths),
        *_dead(healths),
        *_late(healths),
        *_alerts(healths),
        *(line for item in worst_first(healths) for line in new_column_lines(item.status)),
        *_waiting(healths, now),
        *(line for item in worst_first(healths) for line in stream_lines(item.status, now)),
    ]
    lines = [*table(headers, rows, right=frozenset({3})), ""]
    return [*lines, *broken, *([""] if broken else []), *_summary(healths)]


_CLOCK_SLACK = timedelta(minutes=1)


def _clock(healths: Sequence[Health], now: datetime) -> list[str]:
    """A recorded time in the future: the clock was wrong then, or is now."""
    times = [item.status.published_at for item in healths]
    times += [item.status.last_run.end_time for item in healths if item.status.last_run]
    latest = max((time for time in times if time is not None), default=now)
    if latest <= now + _CLOCK_SLACK:
        return []
    return [f"clock: a time in the future is recorded, {moment(latest)}: check the machine's clock"]


def _damaged(healths: Sequence[Health]) -> list[str]:
    """What was found wrong with tables, until it is undone."""
    return [
        f"damaged: {item.name}  {escaped(item.status.damage)}"
        for item in worst_first(healths)
        if item.status.damage
    ]


def _dead(healths: Sequence[Health]) -> list[str]:
    """Runs whose process died; the next command that writes ends them."""
    return [
        f"dead: {item.name}  {dead_run_text(run)}"
        for item in worst_first(healths)
        if (run := item.status.open_run) is not None and run.dead
    ]


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


def new_column_lines(status: DatasetStatus) -> list[str]:
    """Columns of the input that are not in the table, with the command that shows what to do."""
    name = status.dataset.dataset_name
    found = ", ".join(f"{escaped(item.column)} ({item.found})" for item in status.new_columns)
    if not found:
        return []
    return [f"not in the table: {name}  {found}; lakeguard schema diff {name}"]


def _waiting(healths: Sequence[Health], now: datetime) -> list[str]:
    """Quarantined rows, with the command that lists them."""
    return [
        f"quarantine: {item.name}  {plural(item.status.quarantined, 'row')}, oldest"
        f" {age(item.status.quarantined_since, now)}; lakeguard quarantine list {item.name}"
        for item in worst_first(healths)
        if item.status.quarantined and item.status.quarantined_since is not None
    ]


def stream_lines(status: DatasetStatus, now: datetime) -> list[str]:
    """Streaming queries that write to the dataset: state, last micro-batch, backlog, event time."""
    name = status.dataset.dataset_name
    return [
        f"stream: {name}  {'; '.join(_stream_parts(stream, now))}  (query {stream.query_id})"
        for stream in status.streams
    ]


def _stream_parts(stream: StreamStatus, now: datetime) -> list[str]:
    progress, error = stream.progress, stream.error.partition("\n")[0]
    state = f"{stream.state}: {escaped(error)}" if error else str(stream.state)
    if stream.lost:
        state = f"lost: {escaped(stream.lost)}, last report {age(stream.reported_at, now)}"
    if progress is None:
        return [state, "no micro-batch yet"]
    ended = f"{age(progress.ended_at, now)} with {plural(progress.rows, 'row')}"
    parts = [state, f"micro-batch {progress.batch} ended {ended}", _backlog(progress)]
    if progress.event_time is not None:
        parts.append(f"events up to {age(progress.event_time, now)}")
    return parts


def _backlog(progress: StreamProgress) -> str:
    """Of all sources that report it, by what they count."""
    amounts: Counter[str] = Counter()
    for source in progress.sources:
        if source.amount is not None:
            amounts[source.unit] += source.amount
    if not amounts:
        return "backlog not reported by its source"
    found = [f"{amount:,} {escaped(unit)}" for unit, amount in sorted(amounts.items()) if amount]
    return f"{' and '.join(found)} behind" if found else "caught up"


def _cells(health: Health, now: datetime) -> list[str]:
    status = health.status
    published = status.published
    return [
        str(health.badge),
        health.name,
        "-" if published is None else f"v{published}",
        "-" if status.table_rows is None else number(status.table_rows),
        "-" if status.published_at is None else age(status.published_at, now),
        _last_run(status, now),
        escaped(status.dataset.owner),
    ]


def _last_run(status: DatasetStatus, now: datetime) -> str:
    if status.open_run is not None:
        return "dead" if status.open_run.dead else "running"
    return "never" if status.last_run is None else age(status.last_run.end_time, now)


def _summary(healths: Sequence[Health]) -> list[str]:
    ill = [item for item in worst_first(healths) if item.badge.badness <= Badge.DEAD.badness]
    count = plural(len(healths), "dataset")
    if not ill:
        return [count]
    damaged = sum(item.badge is Badge.DAMAGED for item in ill)
    if damaged:
        return [f"{count}, {damaged:,} damaged", "Next: lakeguard verify"]
    return [
        f"{count}, {len(ill):,} {_words(ill)}",
        f"Next: lakeguard why {ill[0].name}",
    ]


def _words(ill: Sequence[Health]) -> str:
    dead = any(item.badge is Badge.DEAD for item in ill)
    return "blocked, failed or dead" if dead else "blocked or failed"
