"""Rows that were set aside: what became of them, and that all of them are accounted for."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.kept_reading import quarantine_of, rows_read_by, whole_quarantine
from lakeguard.ledger.quarantine import datasets_with_holdings
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


def balance_of(connection: Connection, org_id: str, name: DatasetName) -> QuarantineBalance:
    """As seen from what is published."""
    dataset = require_dataset(connection, org_id, name)
    quarantine = whole_quarantine(connection, org_id, dataset.dataset_id)
    version = quarantine.published
    line = quarantine.line(version)
    read = rows_read_by(connection, org_id, dataset.dataset_id, line)
    return quarantine.balance(dataset.name, version, read)
