"""Column lineage: which input columns each column of a version came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import select

from lakeguard.ledger.versions import StoredVersion, pointer, require_version
from lakeguard.registry.store import dataset_by_id, require_dataset
from lakeguard.state import outbox
from lakeguard.state.schema import column_lineage
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.read_models import ColumnLineage

UNKNOWN = ""
"""In place of a column name, which is never empty: some columns of the input, unknown which."""


class Arrow(NamedTuple):
    """An edge from an input column to a column of a version."""

    column: str
    input_dataset_id: str
    input_column: str


def record_lineage(tx: Transaction, version: StoredVersion, arrows: Iterable[Arrow]) -> None:
    """Record each edge once."""
    rows = [
        {
            "dataset_id": version.dataset_id,
            "version": version.version,
            "column_name": arrow.column,
            "input_dataset_id": arrow.input_dataset_id,
            "input_column": arrow.input_column,
            "org_id": tx.org_id,
        }
        for arrow in sorted(set(arrows))
    ]
    outbox.record(tx, column_lineage, rows, version.promoted_at)


def lineage_of(tx: Transaction, dataset_id: str, version: int) -> list[Arrow]:
    table = column_lineage.c
    rows = tx.execute(
        select(table.column_name, table.input_dataset_id, table.input_column)
        .where(table.dataset_id == dataset_id, table.version == version)
        .order_by(table.column_name, table.input_dataset_id, table.input_column)
    )
    return [Arrow(*row) for row in rows]


def lineage_rows(tx: Transaction, name: DatasetName, version: int | None) -> list[ColumnLineage]:
    """Lineage by column, with current dataset names; empty if nothing is published or there are no
    inputs."""
    dataset_id = require_dataset(tx, name).dataset_id
    if version is None:
        published = pointer(tx, dataset_id)
        if published is None:
            return []
        version = published.version
    found = lineage_of(tx, dataset_id, require_version(tx, dataset_id, version).version)
    names = {
        given: dataset_by_id(tx, given).name
        for given in {arrow.input_dataset_id for arrow in found}
    }
    return [
        ColumnLineage(
            column=arrow.column,
            input=names[arrow.input_dataset_id],
            input_column=None if arrow.input_column == UNKNOWN else arrow.input_column,
        )
        for arrow in found
    ]
