"""Alerts and their delivery attempts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select

from lakeguard.ledger.notifications.deliveries import (
    begun,
    is_told,
    last_tellings,
    telling_row,
)
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import alert_channels, alert_deliveries, alerts
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.notifications import Alert, AlertKind, AlertRow, ChannelDelivery

_PAYLOAD = ("dataset", "layer", "domain", "owner", "details")
"""The alert's JSON body."""
_KEY = "alert_id"


def raise_alert(tx: Transaction, alert: Alert) -> bool:
    """Record the alert unless one with the same key exists; return whether it is new."""
    said = alert.to_data()
    row = {
        "alert_id": alert.alert_id,
        "org_id": alert.organisation,
        "dataset_id": alert.dataset_id,
        "kind": alert.kind.value,
        "severity": alert.severity.value,
        "run_id": alert.run_id,
        "decision_id": alert.decision_id,
        "check_id": alert.check,
        "message": alert.message.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "payload": canonical_json({key: said[key] for key in _PAYLOAD}),
        "raised_at": alert.raised_at,
        "dedupe_key": alert.dedupe_key,
    }
    return outbox.record_once(tx, alerts, row, alert.raised_at)


def raised_keys(tx: Transaction, keys: Sequence[str]) -> frozenset[str]:
    """Keys that already have an alert."""
    found: set[str] = set()
    for piece in in_pieces(keys):
        chosen = alerts.c.dedupe_key.in_(piece)
        query = select(alerts.c.dedupe_key).where(alerts.c.org_id == tx.org_id, chosen)
        found.update(tx.scalars(query))
    return frozenset(found)


def alert_rows(
    tx: Transaction, *, since: datetime | None, kind: AlertKind | None, limit: int
) -> list[AlertRow]:
    """Latest first."""
    query = select(alerts).where(alerts.c.org_id == tx.org_id)
    if since is not None:
        query = query.where(alerts.c.raised_at >= since)
    if kind is not None:
        query = query.where(alerts.c.kind == kind.value)
    latest = query.order_by(alerts.c.raised_at.desc(), alerts.c.alert_id.desc()).limit(limit)
    found = [_alert(row) for row in tx.execute(latest)]
    tried = last_tellings(tx, alert_deliveries, _KEY, [one.alert_id for one in found])
    return [AlertRow(alert=one, tellings=tuple(tried.get(one.alert_id, ()))) for one in found]


def open_channels(tx: Transaction, names: Iterable[str], at: datetime) -> None:
    """Open channels: they deliver alerts raised from now on."""
    for name in names:
        row = {"org_id": tx.org_id, "channel": name, "opened_at": at}
        outbox.record_once(tx, alert_channels, row, at)


def untold(
    tx: Transaction,
    channel: str,
    since: datetime,
    *,
    kinds: Sequence[AlertKind] = (),
    severities: Sequence[Severity] = (),
) -> list[tuple[Alert, ChannelDelivery | None]]:
    """Undelivered alerts of the channel with their last attempt, oldest first, optionally only of
    these kinds and severities."""
    first = begun(tx, alert_channels, channel, since)
    if first is None:
        return []
    told = is_told(alert_deliveries, _KEY, alerts.c.alert_id, channel)
    query = select(alerts).where(alerts.c.org_id == tx.org_id, alerts.c.raised_at >= first, ~told)
    if kinds:
        query = query.where(alerts.c.kind.in_([kind.value for kind in kinds]))
    if severities:
        query = query.where(alerts.c.severity.in_([severity.value for severity in severities]))
    rows = tx.execute(query.order_by(alerts.c.raised_at, alerts.c.alert_id))
    found = [_alert(row) for row in rows]
    tried = last_tellings(tx, alert_deliveries, _KEY, [alert.alert_id for alert in found], channel)
    return [(one, next(iter(tried.get(one.alert_id, ())), None)) for one in found]


def record_telling(tx: Transaction, alert_id: str, telling: ChannelDelivery) -> None:
    row = telling_row(tx.org_id, _KEY, alert_id, telling)
    outbox.record(tx, alert_deliveries, [row], telling.tried_at)


def _alert(row: Row[Any]) -> Alert:
    return Alert(
        alert_id=row.alert_id,
        kind=row.kind,
        severity=row.severity,
        organisation=row.org_id,
        dataset_id=row.dataset_id,
        run_id=row.run_id,
        decision_id=row.decision_id,
        check=row.check_id,
        message=row.message,
        raised_at=row.raised_at,
        dedupe_key=row.dedupe_key,
        **json.loads(row.payload),
    )
