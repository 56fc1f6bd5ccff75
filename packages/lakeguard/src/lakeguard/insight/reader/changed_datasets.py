"""Datasets whose published version is not what a run would build now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import func, select

from lakeguard.ledger.versions import inputs_of, latest_pointers
from lakeguard.state.schema import dataset_registry, run_history
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus


def changed_datasets(tx: Transaction) -> list[DatasetName]:
    """Never published, revised since their last successful run, or built from inputs that have
    moved on; sorted.

    New files of a source are not looked for: only a run reads it. A revision that a run itself
    made, by accepting columns, is no change.
    """
    published = {dataset_id: pointer.version for dataset_id, pointer in latest_pointers(tx).items()}
    built = _last_successes(tx)
    view = dataset_registry.c
    rows = tx.execute(
        select(view.dataset_id, view.dataset_name, view.revised_at).where(view.org_id == tx.org_id)
    )
    return sorted(
        DatasetName(row.dataset_name)
        for row in rows.all()
        if row.dataset_id not in published
        or row.dataset_id not in built
        or row.revised_at > built[row.dataset_id]
        or _has_newer_inputs(tx, row.dataset_id, published)
    )


def _last_successes(tx: Transaction) -> dict[str, datetime]:
    """When the last successful run of each dataset ended."""
    table = run_history.c
    rows = tx.execute(
        select(table.dataset_id, func.max(table.end_time).label("end_time"))
        .where(table.org_id == tx.org_id, table.status == RunStatus.SUCCESS.value)
        .group_by(table.dataset_id)
    )
    return {row.dataset_id: row.end_time for row in rows}


def _has_newer_inputs(tx: Transaction, dataset_id: str, published: Mapping[str, int]) -> bool:
    read = inputs_of(tx, dataset_id, published[dataset_id])
    return any(published.get(item.dataset_id) != item.version for item in read)
