"""Rows that were set aside: what became of them, and that all of them are accounted for."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from lakeguard.ledger.kept_reading import quarantine_of, rows_read_by
from lakeguard.ledger.kept_rows import oldest
from lakeguard.ledger.quarantine import datasets_with_holdings, holdings_of
from lakeguard.registry.store import dataset_by_id, require_dataset
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.quarantine import KeptRows, QuarantineBalance


def kept_rows(
    connection: Connection, org_id: str, name: DatasetName | None
) -> tuple[KeptRows, ...]:
    """What each run filed under each rule, dataset by dataset, the oldest first."""
    if name is not None:
        datasets = [require_dataset(connection, org_id, name)]
    else:
        held = datasets_with_holdings(connection, org_id)
        datasets = [dataset_by_id(connection, org_id, dataset_id) for dataset_id in held]
    found: list[KeptRows] = []
    for dataset in sorted(datasets, key=lambda item: item.name):
        quarantine = quarantine_of(connection, org_id, dataset.dataset_id)
        found += quarantine.kept(dataset.name)
    return tuple(found)


def rows_waiting(connection: Connection, org_id: str) -> dict[str, tuple[int, datetime | None]]:
    """By dataset: how many rows wait, and since when the oldest of them."""
    found = {}
    for dataset_id in datasets_with_holdings(connection, org_id):
        quarantine = quarantine_of(connection, org_id, dataset_id)
        waiting = quarantine.waiting(quarantine.published)
        found[dataset_id] = sum(item.rows for item in waiting), oldest(waiting)
    return found


def rows_set_aside(connection: Connection, dataset_id: str) -> dict[int, int]:
    """By version, what rules kept out of it; none for those that kept out nothing."""
    found: dict[int, int] = {}
    for holding in holdings_of(connection, dataset_id):
        found[holding.version] = found.get(holding.version, 0) + holding.rows
    return found


def balance_of(connection: Connection, org_id: str, name: DatasetName) -> QuarantineBalance:
    """As seen from what is published."""
    dataset = require_dataset(connection, org_id, name)
    quarantine = quarantine_of(connection, org_id, dataset.dataset_id, whole=True)
    version = quarantine.published
    line = quarantine.line(version)
    read = rows_read_by(connection, org_id, dataset.dataset_id, line)
    return quarantine.balance(dataset.name, version, read)
