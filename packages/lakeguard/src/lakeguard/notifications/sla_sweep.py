"""Raises an alert for each SLA breach, once, whether or not a run happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from sqlalchemy import select

from lakeguard.ledger.notifications.store import record_notifications, recorded_keys
from lakeguard.ledger.promotion_times import last_promotion
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import dataset_registry
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.enums import Enforcement, Severity
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.notifications import Alert, AlertKind, alert_key
from lakeguard_sdk.model.read_models import Breach, DatasetRow

Promises = Callable[[Transaction, Iterable[DatasetRow], datetime], Mapping[str, tuple[Breach, ...]]]
"""Late datasets by id; injected, because the query needs a higher layer."""


def sweep(state: OrganisationState, at: datetime, promises: Promises) -> list[Alert]:
    """Raise an alert for each new breach.

    Only a promotion ends a breach, so the last promotion identifies it: it is raised once until
    it ends.
    """
    with state.read() as tx:
        found = list(_broken(tx, at, promises))
        known = recorded_keys(tx, [alert.dedupe_key for alert in found])
    new = [alert for alert in found if alert.dedupe_key not in known]
    if not new:
        return []
    with state.write() as tx:
        return record_notifications(tx, new)


def _broken(tx: Transaction, at: datetime, promises: Promises) -> Iterator[Alert]:
    seen: dict[str, DatasetRow] = {}

    def datasets() -> Iterator[DatasetRow]:
        """Queried only if a dataset has an SLA."""
        for row in _datasets(tx):
            seen[row.dataset_id] = row
            yield row

    for dataset_id, breaches in promises(tx, datasets(), at).items():
        last = last_promotion(tx, dataset_id) if breaches else None
        for breach in breaches:
            yield _alert(tx.org_id, seen[dataset_id], breach, last, at)


def _alert(
    org_id: str, row: DatasetRow, breach: Breach, last: datetime | None, at: datetime
) -> Alert:
    since = "" if last is None else format_instant(last)
    blocks = breach.enforcement is Enforcement.BLOCK
    return Alert(
        alert_id=new_id("alr"),
        kind=AlertKind.LATE,
        severity=Severity.FAIL if blocks else Severity.WARN,
        organisation=org_id,
        dataset=row.dataset_name,
        dataset_id=row.dataset_id,
        layer=row.layer,
        domain=row.domain,
        owner=row.owner,
        check=breach.policy,
        message=breach.message,
        details={"expression": breach.expression},
        raised_at=at,
        dedupe_key=alert_key(
            AlertKind.LATE, row.dataset_id, breach.policy, breach.expression, since
        ),
    )


def _datasets(tx: Transaction) -> Iterator[DatasetRow]:
    view, fields = dataset_registry.c, tuple(DatasetRow.model_fields)
    query = select(*(view[name] for name in fields)).where(view.org_id == tx.org_id)
    for row in tx.execute(query.order_by(view.dataset_name)).all():
        yield DatasetRow(**dict(zip(fields, row, strict=True)))
