"""Delivery attempts per channel, shared by alerts and events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, select

from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import plane_identity
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import ChannelDelivery, DeliveryOutcome


def known_channels(tx: Transaction, channels: Table) -> frozenset[str]:
    """All channels ever opened."""
    query = select(channels.c.channel).where(channels.c.org_id == tx.org_id)
    return frozenset(tx.scalars(query))


def begun(tx: Transaction, channels: Table, channel: str, since: datetime) -> datetime | None:
    """The time from which the channel delivers: its opening or the State's creation. None
    if never opened.

    A rebuilt State delivers nothing older, so that nothing is sent twice.
    """
    opened = tx.scalar(
        select(channels.c.opened_at).where(
            channels.c.org_id == tx.org_id, channels.c.channel == channel
        )
    )
    if opened is None:
        return None
    born = tx.scalar(
        select(plane_identity.c.created_at).where(plane_identity.c.org_id == tx.org_id)
    )
    return max(moment for moment in (since, opened, born) if moment is not None)


def is_told(
    deliveries: Table, key: str, news: ColumnElement[str], channel: str
) -> ColumnElement[bool]:
    """Correlated EXISTS: the channel delivered the row of the outer query."""
    return (
        select(deliveries.c.attempt)
        .where(
            deliveries.c[key] == news,
            deliveries.c.channel == channel,
            deliveries.c.outcome == DeliveryOutcome.SENT.value,
        )
        .exists()
    )


def telling_row(org_id: str, key: str, news_id: str, telling: ChannelDelivery) -> dict[str, Any]:
    """Record an attempt; constraints refuse a duplicate number and a second success."""
    return {
        key: news_id,
        "channel": telling.channel,
        "attempt": telling.attempts,
        "org_id": org_id,
        "outcome": telling.outcome.value,
        "tried_at": telling.tried_at,
        "error": telling.error,
    }


def last_tellings(
    tx: Transaction,
    deliveries: Table,
    key: str,
    ids: Sequence[str],
    channel: str | None = None,
) -> dict[str, list[ChannelDelivery]]:
    """The last attempt per channel, by notification."""
    table, latest = deliveries.c, dict[tuple[str, str], ChannelDelivery]()
    for piece in in_pieces(ids):
        query = select(deliveries).where(table[key].in_(piece))
        if channel is not None:
            query = query.where(table.channel == channel)
        for row in tx.execute(query.order_by(table.channel, table.attempt)).mappings():
            latest[row[key], row["channel"]] = ChannelDelivery(
                channel=row["channel"],
                outcome=row["outcome"],
                attempts=row["attempt"],
                tried_at=row["tried_at"],
                error=row["error"],
            )
    found: dict[str, list[ChannelDelivery]] = {}
    for (news_id, _), telling in latest.items():
        found.setdefault(news_id, []).append(telling)
    return found
