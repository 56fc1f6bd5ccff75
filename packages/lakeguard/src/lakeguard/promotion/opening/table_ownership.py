"""Table ownership: a table id belongs to one dataset, even if the table is copied."""

from __future__ import annotations

from sqlalchemy import text

from lakeguard.lake.adoptable import COPY
from lakeguard.ledger.intents import holder_of_table, next_seq
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import current_definition, dataset_by_id
from lakeguard.state.locks import hold
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.delivery import ASK, MAY_ASK, DatabaseTable, database_table, role_mark
from lakeguard_sdk.model.table_operations import AdoptableTable
from lakeguard_sdk.storage.reserved_places import reserved_place
from lakeguard_sdk.storage.storage import table_uri

_REPAIR = "bring the file back as it was, or delete its rows from the table, then adopt again"


def examine_for(context: PlaneContext, location: str, name: DatasetName | None) -> AdoptableTable:
    """The table, if the dataset may adopt it; raises ``NotAdoptable``. Read-only.

    ``name`` need not be registered yet.
    """
    table = context.tables.examine(location)
    with context.read() as tx:
        known = name and current_definition(tx, name)
        refuse_claimed(tx, known.dataset_id if known else None, table)
    refuse_reserved(context, location)
    if damage := context.tables.damage(location, table.commit):
        raise NotAdoptable(location=location, reason=damage, way_out=_REPAIR)
    return table


def refuse_reserved(context: PlaneContext, location: str) -> None:
    """Raise ``NotAdoptable`` for a table inside a folder of LakeGuard, of this lake or another."""
    reason = reserved_place(table_uri(location), context.lake, lambda _: False)
    if reason is not None:
        raise NotAdoptable(location=location, reason=reason, way_out=COPY)


def hold_id(tx: Transaction, table_id: str) -> None:
    """Serialise adoptions of tables with the same id."""
    hold(tx, f"table-id:{table_id}")


def refuse_claimed(tx: Transaction, dataset_id: str | None, table: AdoptableTable) -> None:
    """Raise ``NotAdoptable`` if another dataset or another LakeGuard owns the table."""
    reason = other_holder(tx, dataset_id, table.table_id)
    last = next_seq(tx, dataset_id) - 1 if dataset_id else 0
    if reason is None and table.seq != (last or None):
        reason = "another LakeGuard governs it: its log has moves that are not in this ledger"
    if reason is not None:
        raise NotAdoptable(location=table.location, reason=reason, way_out=COPY)


def other_holder(tx: Transaction, dataset_id: str | None, table_id: str) -> str | None:
    """Another dataset that owns or is adopting the table id, or None."""
    holder = holder_of_table(tx, table_id, besides=dataset_id)
    if holder is None:
        return None
    whose = "a dataset of another organisation"
    if holder.org_id == tx.org_id:
        whose = dataset_by_id(tx, holder.dataset_id).name
    return f"it has the id of the table of {whose}: it is that table, or a copy of its files"


# The delivery table of a dataset in a target database.


def live_table(
    tx: Transaction, target: TargetDefinition | None, name: DatasetName
) -> DatabaseTable | None:
    """None if the dataset's target is not a database."""
    table = database_table(target, name)
    if table is None:
        return None
    ownership = {"organisation": tx.org_id, "apart_from": _keeper(tx)}
    return table.model_copy(update=ownership)


def _keeper(tx: Transaction) -> str:
    """The State's server identity; empty if unknown or not a server."""
    if tx.dialect.name != "postgresql" or not tx.scalar(text(MAY_ASK)):
        return ""
    found = tx.execute(text(ASK)).one()
    return role_mark(found[0], found[1])
