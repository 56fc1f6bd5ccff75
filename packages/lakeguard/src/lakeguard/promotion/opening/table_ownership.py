"""Whose a table is: its id belongs to one dataset of one LakeGuard, however often it is copied."""

from __future__ import annotations

from sqlalchemy import Connection, text

from lakeguard.lake.adoptable import COPY
from lakeguard.ledger.intents import holder_of_table, next_seq
from lakeguard.promotion.context import Heart
from lakeguard.registry.store import current_definition, dataset_by_id
from lakeguard.state.locks import hold
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.delivery import ASK, MAY_ASK, DatabaseTable, database_table, role_mark
from lakeguard_sdk.model.table_operations import AdoptableTable

_REPAIR = "bring the file back as it was, or delete its rows from the table, then adopt again"


def examine_for(heart: Heart, location: str, name: DatasetName | None) -> AdoptableTable:
    """The table as it is now, if the dataset may have it; else ``NotAdoptable``. Nothing changes.

    ``name`` need not be registered yet.
    """
    table = heart.tables.examine(location)
    with heart.database.read() as connection:
        known = name and current_definition(connection, heart.org_id, name)
        refuse_claimed(connection, heart, known.dataset_id if known else None, table)
    if damage := heart.tables.damage(location, table.commit):
        raise NotAdoptable(location=location, reason=damage, way_out=_REPAIR)
    return table


def hold_id(connection: Connection, table_id: str) -> None:
    """Of adoptions of tables with one id, one at a time is decided."""
    hold(connection, f"table-id:{table_id}")


def refuse_claimed(
    connection: Connection, heart: Heart, dataset_id: str | None, table: AdoptableTable
) -> None:
    """Raise ``NotAdoptable`` where another dataset, or another LakeGuard, holds the table."""
    reason = other_holder(connection, heart, dataset_id, table.table_id)
    last = next_seq(connection, dataset_id) - 1 if dataset_id else 0
    if reason is None and table.seq != (last or None):
        reason = "another LakeGuard governs it: its log has moves that are not in this ledger"
    if reason is not None:
        raise NotAdoptable(location=table.location, reason=reason, way_out=COPY)


def other_holder(
    connection: Connection, heart: Heart, dataset_id: str | None, table_id: str
) -> str | None:
    """Which other dataset has the table's id, or is about to; None where none does."""
    holder = holder_of_table(connection, table_id, besides=dataset_id)
    if holder is None:
        return None
    whose = "a dataset of another organisation"
    if holder.org_id == heart.org_id:
        whose = dataset_by_id(connection, heart.org_id, holder.dataset_id).name
    return f"it has the id of the table of {whose}: it is that table, or a copy of its files"


# The live table that follows a dataset, with what its writer has to know of the State.


def live_table(
    connection: Connection, heart: Heart, target: TargetDefinition | None, name: DatasetName
) -> DatabaseTable | None:
    """None where the dataset's target is no database."""
    table = database_table(target, name)
    if table is None:
        return None
    told = {"organisation": heart.org_id, "apart_from": _keeper(connection)}
    return table.model_copy(update=told)


def _keeper(connection: Connection) -> str:
    """Who keeps the State; empty where that is no server, or one that does not say."""
    if connection.dialect.name != "postgresql" or not connection.scalar(text(MAY_ASK)):
        return ""
    found = connection.execute(text(ASK)).one()
    return role_mark(found[0], found[1])
