"""Notifications, opened channels and delivery attempts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Engine, Row, Select, case, select, tuple_

from lakeguard.state import outbox
from lakeguard.state.bulk_writes import in_pieces, insert_new
from lakeguard.state.connections import engine_of
from lakeguard.state.schema import (
    notification_channels,
    notification_deliveries,
    notifications,
    plane_identity,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertKind,
    AlertRow,
    ChannelDelivery,
    DeliveryOutcome,
    Event,
    EventKind,
    EventRow,
    Notification,
    NotificationRow,
    Topic,
)

Kind = AlertKind | EventKind
Raised = TypeVar("Raised", Alert, Event)
Undelivered = Sequence[tuple[Notification, ChannelDelivery | None]]
"""Notifications that a channel has not delivered, each with its last attempt."""

REFRESH_SECONDS = 5.0
"""Seconds until a process notices a channel opened by another."""
PAGE = 1_000
"""Notifications per page."""
_RANKS = {kind.value: number for number, kind in enumerate(EventKind)}
"""Within an instant, causes come before effects; alerts have no such order."""
_has_channel: WeakKeyDictionary[Engine, dict[str, tuple[bool, float]]] = WeakKeyDictionary()
"""Whether an event channel is open, by State and organisation, with the cache's expiry."""


# Notifications.


def record_notifications(tx: Transaction, raised: Iterable[Raised]) -> list[Raised]:
    """Record notifications in the transaction of their cause; return the new ones.

    One with the same key as a recorded one is not new.
    """
    by_key = {each.dedupe_key: each for each in raised}
    rows = [_row(each) for each in by_key.values()]
    unique = ("org_id", "dedupe_key")
    new = insert_new(tx, notifications, rows, unique, "dedupe_key")
    recorded = [row for row in rows if row["dedupe_key"] in new]
    if recorded:
        outbox.enqueue(tx, notifications, recorded, recorded[0]["raised_at"])
    return [each for key, each in by_key.items() if key in new]


def record_events(tx: Transaction, happened: Callable[[], Iterable[Event]]) -> None:
    """Record events in the transaction of their facts, each once.

    If no event channel is open, ``happened`` is not evaluated and nothing is written.
    """
    if has_event_channel(tx):
        record_notifications(tx, happened())


def recorded_keys(tx: Transaction, keys: Sequence[str]) -> frozenset[str]:
    """Keys that already have a notification."""
    table, found = notifications.c, set[str]()
    for piece in in_pieces(keys):
        query = select(table.dedupe_key).where(
            table.org_id == tx.org_id, table.dedupe_key.in_(piece)
        )
        found.update(tx.scalars(query))
    return frozenset(found)


def list_notifications(
    tx: Transaction, topic: Topic, *, since: datetime | None, kind: Kind | None, limit: int
) -> list[NotificationRow]:
    """Newest first."""
    table = notifications.c
    query = _of_topic(tx, topic)
    if since is not None:
        query = query.where(table.raised_at >= since)
    if kind is not None:
        query = query.where(table.kind == kind.value)
    latest = query.order_by(table.raised_at.desc(), table.notification_id.desc()).limit(limit)
    found = [_notification(row) for row in tx.execute(latest)]
    tried = _last_deliveries(tx, [each.notification_id for each in found])
    return [
        _listed(each, tuple(tried.get(each.notification_id, ())))
        for each in sorted(found, key=_place, reverse=True)
    ]


def _listed(found: Notification, deliveries: tuple[ChannelDelivery, ...]) -> NotificationRow:
    if isinstance(found, Alert):
        return AlertRow(alert=found, deliveries=deliveries)
    return EventRow(event=found, deliveries=deliveries)


def _of_topic(tx: Transaction, topic: Topic) -> Select[Any]:
    table = notifications.c
    return select(notifications).where(table.org_id == tx.org_id, table.topic == topic.value)


def _place(found: Notification) -> tuple[datetime, int, str]:
    """Sort key, as in ``_pages``."""
    return found.raised_at, _RANKS.get(found.kind, -1), found.notification_id


_COLUMNS = ("alert_id", "organisation", "kind", "severity", "raised_at", "dedupe_key")
"""Fields of an alert that are columns; the others are its payload."""


def _row(found: Notification) -> dict[str, Any]:
    row = {
        "notification_id": found.notification_id,
        "org_id": found.organisation,
        "topic": found.topic.value,
        "kind": found.kind.value,
        "severity": None,
        "subject": found.subject,
        "raised_at": found.raised_at,
        "dedupe_key": found.dedupe_key,
    }
    if isinstance(found, Event):
        return {**row, "payload": canonical_json(found.data)}
    fields = found.to_data()
    fields["message"] = found.message.replace("\0", "\N{REPLACEMENT CHARACTER}")
    payload = {
        name: value for name, value in fields.items() if name not in _COLUMNS and value is not None
    }
    return {**row, "severity": found.severity.value, "payload": canonical_json(payload)}


def _notification(row: Row[Any]) -> Notification:
    payload = json.loads(row.payload)
    if row.topic == Topic.EVENT:
        return Event(
            event_id=row.notification_id,
            kind=row.kind,
            organisation=row.org_id,
            subject=row.subject,
            data=payload,
            happened_at=row.raised_at,
        )
    return Alert(
        alert_id=row.notification_id,
        kind=row.kind,
        severity=row.severity,
        organisation=row.org_id,
        raised_at=row.raised_at,
        dedupe_key=row.dedupe_key,
        **payload,
    )


# Channels.


def known_channels(tx: Transaction, topic: Topic) -> frozenset[str]:
    """All channels ever opened."""
    return frozenset(tx.scalars(_channels(tx, topic)))


def open_channels(tx: Transaction, topic: Topic, names: Iterable[str], at: datetime) -> None:
    """Open channels: they deliver notifications raised from now on.

    This process records events at once, even if the channels are not committed yet.
    """
    for name in names:
        row = {"org_id": tx.org_id, "topic": topic.value, "channel": name, "opened_at": at}
        outbox.record_once(tx, notification_channels, row, at)
    if topic is Topic.EVENT:
        known = _has_channel.setdefault(engine_of(tx.connection), {})
        known[tx.org_id] = (True, time.monotonic() + REFRESH_SECONDS)


def has_event_channel(tx: Transaction) -> bool:
    """Whether the organisation has opened an event channel."""
    known, now = _has_channel.setdefault(engine_of(tx.connection), {}), time.monotonic()
    found, until = known.get(tx.org_id, (False, 0.0))
    if now >= until:
        found = tx.execute(_channels(tx, Topic.EVENT).limit(1)).first() is not None
        if known.get(tx.org_id, (False, 0.0))[1] <= now:  # else one was opened in the meantime
            known[tx.org_id] = (found, now + REFRESH_SECONDS)
    return found


def delivers_since(tx: Transaction, topic: Topic, channel: str, since: datetime) -> datetime | None:
    """The time from which the channel delivers: its opening or the State's creation. None if never
    opened.

    A rebuilt State delivers nothing older, so that nothing is sent twice.
    """
    table = notification_channels.c
    opened = tx.scalar(
        select(table.opened_at).where(
            table.org_id == tx.org_id, table.topic == topic.value, table.channel == channel
        )
    )
    if opened is None:
        return None
    created = tx.scalar(
        select(plane_identity.c.created_at).where(plane_identity.c.org_id == tx.org_id)
    )
    return max(moment for moment in (since, opened, created) if moment is not None)


def _channels(tx: Transaction, topic: Topic) -> Select[tuple[str]]:
    table = notification_channels.c
    return select(table.channel).where(table.org_id == tx.org_id, table.topic == topic.value)


# Deliveries.


def undelivered(
    tx: Transaction,
    topic: Topic,
    channel: str,
    since: datetime,
    *,
    kinds: Sequence[Kind] = (),
    severities: Sequence[Severity] = (),
    matches: Callable[[Notification], bool] = lambda _: True,
    most: int | None = None,
) -> Undelivered:
    """Undelivered notifications of the channel with their last attempt, oldest first.

    Stops soon after the first ``most`` that no failure holds up.
    """
    first = delivers_since(tx, topic, channel, since)
    if first is None:
        return []
    table = notifications.c
    query = _of_topic(tx, topic).where(table.raised_at >= first, ~_is_delivered(channel))
    if kinds:
        query = query.where(table.kind.in_([kind.value for kind in kinds]))
    if severities:
        query = query.where(table.severity.in_([severity.value for severity in severities]))
    found, held, free = list[tuple[Notification, ChannelDelivery | None]](), set[str](), 0
    for page in _pages(tx, query):
        chosen = [each for each in page if matches(each)]
        tried = _last_deliveries(tx, [each.notification_id for each in chosen], channel)
        for each in chosen:
            last = next(iter(tried.get(each.notification_id, ())), None)
            found.append((each, last))
            if last is not None and last.outcome is DeliveryOutcome.FAILED:
                held.add(each.sequence)
            free += last is None and each.sequence not in held
        if most is not None and free >= most:
            break
    return found


def record_delivery(tx: Transaction, notification_id: str, delivery: ChannelDelivery) -> None:
    """Record an attempt; constraints refuse a duplicate number and a second success."""
    row = {
        "notification_id": notification_id,
        "channel": delivery.channel,
        "attempt": delivery.attempts,
        "org_id": tx.org_id,
        "outcome": delivery.outcome.value,
        "tried_at": delivery.tried_at,
        "error": delivery.error,
    }
    outbox.record(tx, notification_deliveries, [row], delivery.tried_at)


def _is_delivered(channel: str) -> ColumnElement[bool]:
    """Correlated EXISTS: the channel delivered the row of the outer query."""
    table = notification_deliveries.c
    return (
        select(table.attempt)
        .where(
            table.notification_id == notifications.c.notification_id,
            table.channel == channel,
            table.outcome == DeliveryOutcome.SENT.value,
        )
        .exists()
    )


def _last_deliveries(
    tx: Transaction, ids: Sequence[str], channel: str | None = None
) -> dict[str, list[ChannelDelivery]]:
    """The last attempt per channel, by notification."""
    table, latest = notification_deliveries.c, dict[tuple[str, str], ChannelDelivery]()
    for piece in in_pieces(ids):
        query = select(notification_deliveries).where(table.notification_id.in_(piece))
        if channel is not None:
            query = query.where(table.channel == channel)
        for row in tx.execute(query.order_by(table.channel, table.attempt)):
            latest[row.notification_id, row.channel] = ChannelDelivery(
                channel=row.channel,
                outcome=row.outcome,
                attempts=row.attempt,
                tried_at=row.tried_at,
                error=row.error,
            )
    found: dict[str, list[ChannelDelivery]] = {}
    for (notification_id, _), delivery in latest.items():
        found.setdefault(notification_id, []).append(delivery)
    return found


def _pages(tx: Transaction, query: Select[Any]) -> Iterator[list[Notification]]:
    """Notifications in order, page by page."""
    table = notifications.c
    order = (table.raised_at, case(_RANKS, value=table.kind, else_=-1), table.notification_id)
    ordered = query.order_by(*order).limit(PAGE)
    page = [_notification(row) for row in tx.execute(ordered)]
    while page:
        yield page
        if len(page) < PAGE:
            return
        last = page[-1]
        after = tuple_(*order[1:]) > tuple_(*_place(last)[1:])
        later = (table.raised_at > last.raised_at) | ((table.raised_at == last.raised_at) & after)
        rest = ordered.where(table.raised_at >= last.raised_at, later)
        page = [_notification(row) for row in tx.execute(rest)]
