"""An address made exact: which commit of which table shows a version."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.versions import StoredVersion, shown_at
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.storage import located


def resolved_version(
    connection: Connection, dataset: RegisteredDataset, stored: StoredVersion, lake: str
) -> ResolvedDataset:
    return ResolvedDataset(
        dataset=dataset.name,
        dataset_id=dataset.dataset_id,
        version=stored.version,
        location=located(lake, dataset.location),
        table_id=stored.table_id,
        commit=shown_at(connection, dataset.dataset_id, stored.version),
        table_schema=stored.table_schema,
    )
