"""The marker: one row per table, in the table's own schema, with the version it shows.

It is written in the transaction that changes the table, so the two never disagree.
"""

from __future__ import annotations

from psycopg import sql
from psycopg.rows import dict_row

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.delivery import MARKERS, DatabaseTable
from lakeguard_sdk.model.read_models import ResolvedDataset
from openlaketx.deliver.postgresql.connection import Connection, hold

_THERE = "SELECT to_regclass(%s) IS NOT NULL"
_SCHEMA_THERE = "SELECT to_regnamespace(%s) IS NOT NULL"
_CREATE_SCHEMA = sql.SQL("CREATE SCHEMA IF NOT EXISTS {}")
_CREATE = sql.SQL(
    "CREATE TABLE IF NOT EXISTS {} ("
    "table_name text PRIMARY KEY, dataset text NOT NULL, dataset_id text NOT NULL,"
    " version bigint NOT NULL, table_id text NOT NULL, commit bigint NOT NULL,"
    " run_id text NOT NULL, decision_id text NOT NULL, rows bigint NOT NULL,"
    " delivered_at timestamptz NOT NULL DEFAULT now(),"
    " org_id text, job_id text, task_id text NOT NULL)"
)
_READ = sql.SQL("SELECT {} FROM {} WHERE table_name = %s")
_WRITE = sql.SQL(
    "INSERT INTO {} ({}) VALUES ({})"
    " ON CONFLICT (table_name) DO UPDATE SET ({}) = ROW ({}), delivered_at = now()"
)


class Delivered(FrozenModel):
    """The version that a table shows, and its decision; the ids are checked before they are
    written."""

    table_name: str
    dataset: str
    dataset_id: str
    version: int
    table_id: str
    commit: int
    run_id: str
    decision_id: str
    rows: int
    task_id: str
    delivered_at: Instant | None = None
    org_id: str | None = None
    job_id: str | None = None
    """None if the run had no job."""

    def is_of(self, shown: ResolvedDataset) -> bool:
        """A commit of the same version holds the same rows."""
        wanted = (shown.dataset_id, shown.version, shown.table_id)
        return (self.dataset_id, self.version, self.table_id) == wanted


def create_markers(connection: Connection, table: DatabaseTable) -> None:
    """Creates the schema and its marker table if they do not exist."""
    markers = _markers(table)
    if _is(connection, _THERE, markers):
        return
    schema = sql.Identifier(table.schema_name)
    with connection.transaction():
        hold(connection, table.schema_name)
        if not _is(connection, _SCHEMA_THERE, schema):
            connection.execute(_CREATE_SCHEMA.format(schema))
        connection.execute(_CREATE.format(markers))


def read_marker(connection: Connection, table: DatabaseTable) -> Delivered | None:
    names = sql.SQL(", ").join(map(sql.Identifier, Delivered.model_fields))
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(_READ.format(names, _markers(table)), [table.table_name]).fetchone()
    return None if row is None else Delivered.model_validate(row)


def write_marker(connection: Connection, table: DatabaseTable, made: Delivered) -> None:
    fields = made.model_dump(exclude={"delivered_at"})
    names = sql.SQL(", ").join(map(sql.Identifier, fields))
    values = sql.SQL(", ").join(map(sql.Placeholder, fields))
    connection.execute(_WRITE.format(_markers(table), names, values, names, values), fields)


def _markers(table: DatabaseTable) -> sql.Identifier:
    return sql.Identifier(table.schema_name, MARKERS)


def _is(connection: Connection, question: str, name: sql.Identifier) -> bool:
    row = connection.execute(question.encode(), [name.as_string(connection)]).fetchone()
    return row is not None and bool(row[0])
