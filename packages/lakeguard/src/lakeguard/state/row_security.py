"""Row-level security of PostgreSQL: a service role sees the rows of one organisation at a time.

The policies bind every role but superusers and those with BYPASSRLS, the owner too. Views and
functions have the rights of the caller (``security_invoker``).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Table, text

from lakeguard.state.claim_function import CLAIM
from lakeguard.state.connections import ORGANISATION
from lakeguard.state.database import Database
from lakeguard.state.locks import SCHEMA, hold_for_connection
from lakeguard.state.report_function import REPORT
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard.state.tables.metadata import MUTABLE_COLUMNS, QUEUES, metadata
from lakeguard.state.views.views import view_statements
from lakeguard_sdk.errors import OrganisationsNotSeparated, StateNotMigrated

POLICY = "lakeguard_organisation"
_OWN_ROWS = f"org_id = current_setting('{ORGANISATION}', true) AND org_id <> ''"
_SEQUENCE = text("SELECT pg_get_serial_sequence(:table, :column)")
_REVISION = "alembic_version"


def protect(database: Database, role: str) -> int:
    """Bind all roles to one organisation at a time, and let ``role`` do what the service does, and
    nothing else; returns the number of tables. Repeating it changes nothing.
    """
    with database.write() as connection:
        hold_for_connection(connection, "migrate")
        for statement in _protection(connection, role):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    return len(metadata.sorted_tables)


def _protection(connection: Connection, role: str) -> Iterator[str]:
    quote = connection.dialect.identifier_preparer.quote_identifier
    to = quote(role)
    yield f"GRANT USAGE ON SCHEMA {quote(connection.get_execution_options()[SCHEMA])} TO {to}"
    for table in metadata.sorted_tables:
        name = quote(table.name)
        yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        yield f"DROP POLICY IF EXISTS {POLICY} ON {name}"
        yield f"CREATE POLICY {POLICY} ON {name} USING ({_OWN_ROWS}) WITH CHECK ({_OWN_ROWS})"
        yield f"REVOKE ALL ON {name} FROM {to}"
        yield f"GRANT {_rights(table)} ON {name} TO {to}"
        numbered = table.autoincrement_column
        if numbered is not None:
            given = {"table": name, "column": numbered.name}
            sequence = connection.scalar(_SEQUENCE, given)
            if sequence is not None:
                yield f"GRANT USAGE ON SEQUENCE {sequence} TO {to}"
    for view in (*view_statements(connection.dialect.name), _REVISION):
        yield f"REVOKE ALL ON {quote(view)} FROM {to}"
        yield f"GRANT SELECT ON {quote(view)} TO {to}"
    for function in (CLAIM, REPORT):
        yield f"GRANT EXECUTE ON FUNCTION {function} TO {to}"


def _rights(table: Table) -> str:
    """What the triggers of append-only tables allow."""
    rights = ["SELECT", "INSERT"]
    columns = MUTABLE_COLUMNS.get(table.name, ())
    if columns:
        quoted = ", ".join(f'"{name}"' for name in columns)
        rights.append(f"UPDATE ({quoted})")
    if table.name in QUEUES:
        rights.append("DELETE")
    return ", ".join(rights)


# Checks at the start of a service.

_UNBOUND = text(
    "SELECT 'it is a superuser or has BYPASSRLS' FROM pg_catalog.pg_roles"
    " WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"
    " UNION ALL SELECT CASE WHEN pg_has_role(current_user, c.relowner, 'USAGE')"
    " THEN 'it owns table ' ELSE 'row-level security is not forced on table ' END || c.relname"
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_schema() AND c.relname = ANY(:tables)"
    " AND (pg_has_role(current_user, c.relowner, 'USAGE')"
    " OR NOT (c.relrowsecurity AND c.relforcerowsecurity))"
    " LIMIT 1"
)


def require_bound(database: Database) -> None:
    """Raise unless the schema is the one that this version needs, and its policies bind the
    connected role. Does not migrate: the role may not."""
    found = database.revision()
    if found != SCHEMA_HEAD:
        shown = "none" if found is None else found
        raise StateNotMigrated(place=database.place, found=shown, needed=SCHEMA_HEAD)
    tables = [table.name for table in metadata.sorted_tables]
    with database.read() as connection:
        problem = connection.scalar(_UNBOUND, {"tables": tables})
    if problem is not None:
        role = database.url.username
        raise OrganisationsNotSeparated(place=database.place, role=role, reason=problem)
