"""Alerts and what became of them: raised once, tried by each channel, told once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from lakeguard.state import facts
from lakeguard.state.tables import alert_channels, alert_deliveries, alerts, plane_identity
from lakeguard_sdk.alerting import Alert, AlertKind, AlertRow, Telling, TellingOutcome
from lakeguard_sdk.canonical import canonical_json
from lakeguard_sdk.words import Severity

_PAYLOAD = ("dataset", "layer", "domain", "owner", "details")
"""What an alert says beside its columns."""
_AT_ONCE = 5_000
"""Ids in one IN list."""


def raise_alert(connection: Connection, alert: Alert) -> bool:
    """Write the alert with what it tells, unless one of the same key is there; whether it was."""
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
    return facts.record_once(connection, alerts, row, alert.raised_at)


def raised_keys(connection: Connection, org_id: str, keys: Sequence[str]) -> frozenset[str]:
    """Those of the keys that an alert has already."""
    found: set[str] = set()
    for start in range(0, len(keys), _AT_ONCE):
        chosen = alerts.c.dedupe_key.in_(keys[start : start + _AT_ONCE])
        query = select(alerts.c.dedupe_key).where(alerts.c.org_id == org_id, chosen)
        found.update(connection.scalars(query))
    return frozenset(found)


def alert_rows(
    connection: Connection,
    org_id: str,
    *,
    since: datetime | None,
    kind: AlertKind | None,
    limit: int,
) -> list[AlertRow]:
    """The latest first."""
    query = select(alerts).where(alerts.c.org_id == org_id)
    if since is not None:
        query = query.where(alerts.c.raised_at >= since)
    if kind is not None:
        query = query.where(alerts.c.kind == kind.value)
    latest = query.order_by(alerts.c.raised_at.desc(), alerts.c.alert_id.desc()).limit(limit)
    found = [_alert(row) for row in connection.execute(latest)]
    tried = _tellings(connection, [alert.alert_id for alert in found])
    return [AlertRow(alert=one, tellings=tuple(tried.get(one.alert_id, ()))) for one in found]


def open_channels(connection: Connection, org_id: str, names: Iterable[str], at: datetime) -> None:
    """From now on these channels tell what is raised; what was raised before is not theirs."""
    for name in names:
        row = {"org_id": org_id, "channel": name, "opened_at": at}
        facts.record_once(connection, alert_channels, row, at)


def known_channels(connection: Connection, org_id: str) -> frozenset[str]:
    query = select(alert_channels.c.channel).where(alert_channels.c.org_id == org_id)
    return frozenset(connection.scalars(query))


def untold(
    connection: Connection,
    org_id: str,
    channel: str,
    since: datetime,
    *,
    kinds: Sequence[AlertKind] = (),
    severities: Sequence[Severity] = (),
) -> list[tuple[Alert, Telling | None]]:
    """What the channel has not told and was raised since it was opened, and since this State came
    to be, the oldest first; with its last attempt. Only of these kinds and severities, where some
    are given.

    A State that was rebuilt tells nothing of before: what had been told is not told again, though
    the ledger may not have heard of it.
    """
    opened = select(alert_channels.c.opened_at).where(
        alert_channels.c.org_id == org_id, alert_channels.c.channel == channel
    )
    born = select(plane_identity.c.created_at).where(plane_identity.c.org_id == org_id)
    begun = [connection.scalar(opened), connection.scalar(born)]
    if begun[0] is None:
        return []
    first = max(since, *(moment for moment in begun if moment is not None))
    told = (
        select(alert_deliveries.c.attempt)
        .where(
            alert_deliveries.c.alert_id == alerts.c.alert_id,
            alert_deliveries.c.channel == channel,
            alert_deliveries.c.outcome == TellingOutcome.SENT.value,
        )
        .exists()
    )
    query = select(alerts).where(alerts.c.org_id == org_id, alerts.c.raised_at >= first, ~told)
    if kinds:
        query = query.where(alerts.c.kind.in_([kind.value for kind in kinds]))
    if severities:
        query = query.where(alerts.c.severity.in_([severity.value for severity in severities]))
    rows = connection.execute(query.order_by(alerts.c.raised_at, alerts.c.alert_id))
    found = [_alert(row) for row in rows]
    tried = _tellings(connection, [alert.alert_id for alert in found], channel)
    return [(one, next(iter(tried.get(one.alert_id, ())), None)) for one in found]


def record_telling(connection: Connection, org_id: str, alert_id: str, telling: Telling) -> None:
    """One attempt; a second one of its number, or a second success, is refused."""
    row = {
        "alert_id": alert_id,
        "channel": telling.channel,
        "attempt": telling.attempts,
        "org_id": org_id,
        "outcome": telling.outcome.value,
        "tried_at": telling.tried_at,
        "error": telling.error,
    }
    facts.record(connection, alert_deliveries, [row], telling.tried_at)


def _tellings(
    connection: Connection, ids: Sequence[str], channel: str | None = None
) -> dict[str, list[Telling]]:
    """By alert, the last attempt of each channel."""
    table, latest = alert_deliveries.c, dict[tuple[str, str], Telling]()
    for start in range(0, len(ids), _AT_ONCE):
        query = select(alert_deliveries).where(table.alert_id.in_(ids[start : start + _AT_ONCE]))
        if channel is not None:
            query = query.where(table.channel == channel)
        for row in connection.execute(query.order_by(table.channel, table.attempt)):
            latest[row.alert_id, row.channel] = Telling(
                channel=row.channel,
                outcome=row.outcome,
                attempts=row.attempt,
                tried_at=row.tried_at,
                error=row.error,
            )
    found: dict[str, list[Telling]] = {}
    for (alert_id, _), telling in latest.items():
        found.setdefault(alert_id, []).append(telling)
    return found


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
