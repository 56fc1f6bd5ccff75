"""What an apply registers has a promotion state from the same moment on."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.promotions import Way, record_registrations
from lakeguard.promotion.deciding import from_layer
from lakeguard.registry import statements
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.planning import Applied


def register_datasets(connection: Connection, org_id: str, applied: Applied) -> None:
    """Every dataset of the apply whose way to its layer is new: a revision may change it."""
    if applied.apply_id is None:
        return
    ways = []
    for row in connection.execute(statements.revisions_of_apply(applied.apply_id)):
        definition = DatasetDefinition.from_json(row.definition)
        layer = definition.dataset.layer.value
        ways.append(Way(row.dataset_id, from_layer(definition), layer))
    record_registrations(connection, org_id, ways, applied.applied_at)
