"""Lineage of columns, with the names that datasets have now."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.lineage import UNKNOWN, lineage_of
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.registry.store import dataset_by_id, require_dataset
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reading import ColumnLineage


def lineage_rows(
    connection: Connection, org_id: str, name: DatasetName, version: int | None
) -> list[ColumnLineage]:
    """By column; none where nothing is published, or where it was made of no input."""
    dataset_id = require_dataset(connection, org_id, name).dataset_id
    if version is None:
        published = pointer(connection, dataset_id)
        if published is None:
            return []
        version = published.version
    found = lineage_of(
        connection, dataset_id, require_version(connection, dataset_id, version).version
    )
    names = {
        given: dataset_by_id(connection, org_id, given).name
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
