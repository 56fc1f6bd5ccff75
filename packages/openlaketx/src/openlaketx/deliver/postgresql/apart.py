"""The database is asked whether it is one to deliver to: where a State is, nothing is written."""

from __future__ import annotations

from lakeguard_sdk.database import DatabaseTable
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.role_mark import ASK, MAY_ASK, role_mark
from openlaketx.deliver.failing import failed
from openlaketx.deliver.postgresql.connecting import Connection

_OF_A_STATE = ["dataset_pointers", "outbox", "plane_identity"]
"""Tables that every State has; who they belong to makes no difference."""
_STATES = (
    "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relname = ANY(%s) AND c.relkind IN ('r', 'p')"
    " GROUP BY n.nspname HAVING count(*) = %s ORDER BY n.nspname LIMIT 1"
)


def require_apart(connection: Connection, table: DatabaseTable, shown: ResolvedDataset) -> None:
    """Refused, by whichever address it was reached, where the database holds a State; and where
    the role is the one that keeps this control plane's State, though in another database."""
    held = connection.execute(_STATES, [_OF_A_STATE, len(_OF_A_STATE)]).fetchone()
    if held is not None:
        raise failed(
            shown,
            f"the database holds a State, in schema {held[0]}: give the target a database of its"
            " own",
        )
    if table.apart_from and _writer(connection) == table.apart_from:
        raise failed(
            shown, "its role is the one that keeps the State: give the target a role of its own"
        )


def _writer(connection: Connection) -> str:
    """Empty where the server does not say."""
    asked = connection.execute(MAY_ASK).fetchone()
    if asked is None or not asked[0]:
        return ""
    found = connection.execute(ASK).fetchone()
    return "" if found is None else role_mark(found[0], found[1])
