"""Events and their delivery attempts; written only if a channel is open."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Row, Select, case, insert, select, tuple_

from lakeguard.ledger.notifications.deliveries import (
    begun,
    is_told,
    last_tellings,
    telling_row,
)
from lakeguard.state.bulk_writes import insert_into
from lakeguard.state.schema import event_channels, event_deliveries, events
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.model.notifications import (
    ChannelDelivery,
    DeliveryOutcome,
    Event,
    EventKind,
    EventRow,
)

REFRESH_SECONDS = 5.0
"""Seconds until a process notices a channel opened by another."""
PAGE = 1_000
"""Events per page."""
_KEY = "event_id"
_ORDER = [kind.value for kind in EventKind]
_listened: WeakKeyDictionary[Engine, dict[str, tuple[bool, float]]] = WeakKeyDictionary()
"""Whether a channel is open, by State and organisation, with the cache's expiry."""


def tell_events(tx: Transaction, happened: Callable[[], Iterable[Event]]) -> None:
    """Record events in the transaction of their facts, each once.

    If no channel is open, ``happened`` is not evaluated and nothing is written.
    """
    if not is_listened(tx):
        return
    rows = [_row(event) for event in happened()]
    if not rows:
        return
    tx.execute(insert_into(tx, events).on_conflict_do_nothing(), rows)


def is_listened(tx: Transaction) -> bool:
    """Whether the organisation has an event channel."""
    known, now = _listened.setdefault(tx.connection.engine, {}), time.monotonic()
    found, until = known.get(tx.org_id, (False, 0.0))
    if now >= until:
        query = select(event_channels.c.channel).where(event_channels.c.org_id == tx.org_id)
        found = tx.execute(query.limit(1)).first() is not None
        if (
            known.get(tx.org_id, (False, 0.0))[1] <= now
        ):  # otherwise a channel was opened in the meantime
            known[tx.org_id] = (found, now + REFRESH_SECONDS)
    return found


def open_event_channels(tx: Transaction, names: Sequence[str], at: datetime) -> None:
    """Open channels: they deliver events from now on.

    This process notices at once, even if the channels are not committed yet.
    """
    rows = [{"org_id": tx.org_id, "channel": name, "opened_at": at} for name in names]
    tx.execute(insert_into(tx, event_channels).on_conflict_do_nothing(), rows)
    known = _listened.setdefault(tx.connection.engine, {})
    known[tx.org_id] = (True, time.monotonic() + REFRESH_SECONDS)


def untold_events(
    tx: Transaction,
    channel: str,
    since: datetime,
    *,
    kinds: Sequence[EventKind] = (),
    is_for: Callable[[Event], bool] = lambda _: True,
    most: int | None = None,
) -> list[tuple[Event, ChannelDelivery | None]]:
    """Undelivered events of the channel in order, with their last attempt.

    Stops soon after the first ``most`` that no failure holds up.
    """
    first = begun(tx, event_channels, channel, since)
    if first is None:
        return []
    told = is_told(event_deliveries, _KEY, events.c.event_id, channel)
    query = select(events).where(events.c.org_id == tx.org_id, events.c.happened_at >= first, ~told)
    if kinds:
        query = query.where(events.c.type.in_([kind.value for kind in kinds]))
    found, held, free = list[tuple[Event, ChannelDelivery | None]](), set[str](), 0
    for page in _pages(tx, query):
        chosen = [event for event in page if is_for(event)]
        ids = [event.event_id for event in chosen]
        tried = last_tellings(tx, event_deliveries, _KEY, ids, channel)
        for one in chosen:
            last = next(iter(tried.get(one.event_id, ())), None)
            found.append((one, last))
            if last is not None and last.outcome is DeliveryOutcome.FAILED:
                held.add(one.line)
            free += last is None and one.line not in held
        if most is not None and free >= most:
            break
    return found


def _pages(tx: Transaction, query: Select[Any]) -> Iterator[list[Event]]:
    """Events in order, page by page."""
    rank = case({name: number for number, name in enumerate(_ORDER)}, value=events.c.type)
    order = (events.c.happened_at, rank, events.c.event_id)
    ordered = query.order_by(*order).limit(PAGE)
    page = [_event(row) for row in tx.execute(ordered)]
    while page:
        yield page
        if len(page) < PAGE:
            return
        last = page[-1]
        after = tuple_(*order[1:]) > tuple_(*_place(last)[1:])
        later = (events.c.happened_at > last.happened_at) | (
            (events.c.happened_at == last.happened_at) & after
        )
        rest = ordered.where(events.c.happened_at >= last.happened_at, later)
        page = [_event(row) for row in tx.execute(rest)]


def record_event_telling(tx: Transaction, event_id: str, telling: ChannelDelivery) -> None:
    row = telling_row(tx.org_id, _KEY, event_id, telling)
    tx.execute(insert(event_deliveries), [row])


def event_rows(
    tx: Transaction, *, since: datetime | None, kind: EventKind | None, limit: int
) -> list[EventRow]:
    """Latest first."""
    query = select(events).where(events.c.org_id == tx.org_id)
    if since is not None:
        query = query.where(events.c.happened_at >= since)
    if kind is not None:
        query = query.where(events.c.type == kind.value)
    latest = query.order_by(events.c.happened_at.desc(), events.c.event_id).limit(limit)
    found = sorted((_event(row) for row in tx.execute(latest)), key=_place, reverse=True)
    tried = last_tellings(tx, event_deliveries, _KEY, [one.event_id for one in found])
    return [EventRow(event=one, tellings=tuple(tried.get(one.event_id, ()))) for one in found]


def _place(event: Event) -> tuple[datetime, int, str]:
    """Sort key: within a transaction, causes come before effects."""
    return event.happened_at, _ORDER.index(event.kind), event.event_id


def _row(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "org_id": event.organisation,
        "type": event.kind.value,
        "subject": event.subject,
        "payload": canonical_json(event.data),
        "happened_at": event.happened_at,
    }


def _event(row: Row[Any]) -> Event:
    return Event(
        event_id=row.event_id,
        kind=row.type,
        organisation=row.org_id,
        subject=row.subject,
        data=json.loads(row.payload),
        happened_at=row.happened_at,
    )
