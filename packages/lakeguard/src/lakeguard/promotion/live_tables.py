"""The live table that follows a dataset, with what its writer has to know of the State."""

from __future__ import annotations

from sqlalchemy import Connection, text

from lakeguard.promotion.heart import Heart
from lakeguard_sdk.database import DatabaseTable, database_table
from lakeguard_sdk.definition import TargetDefinition
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.role_mark import ASK, MAY_ASK, role_mark


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
