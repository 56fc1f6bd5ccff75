"""Rows into tables by the thousand, and out of tables that forbid it: only a rebuild may."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, delete, func, select, text

from lakeguard.relay.rows import PlainRow
from lakeguard.state.guards import missing_guards
from lakeguard.state.tables import metadata

_PEOPLE = "users"


def fill(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[PlainRow]
) -> None:
    """Add rows as they are."""
    if not rows:
        return
    quote = connection.dialect.identifier_preparer.quote
    target = f"{quote(table.name)} ({', '.join(map(quote, columns))})"
    if connection.dialect.name == "postgresql":
        _copy(connection, target, rows)
        _move_sequence(connection, table)
    else:
        marks = ", ".join("?" * len(columns))
        connection.exec_driver_sql(f"INSERT INTO {target} VALUES ({marks})", list(rows))  # noqa: S608 - names of ours


def forget(connection: Connection, org_id: str) -> None:
    """Take every row of an organisation out of the State; its people, and what others put there,
    stay."""
    tables = [table for table in metadata.sorted_tables if table.name != _PEOPLE]
    for table in reversed(tables):
        _unguard(connection, table)
        connection.execute(delete(table).where(table.c.org_id == org_id))
    for statement in missing_guards(connection).values():
        connection.exec_driver_sql(statement)


def _unguard(connection: Connection, table: Table) -> None:
    quote = connection.dialect.identifier_preparer.quote
    on = f" ON {quote(table.name)}" if connection.dialect.name == "postgresql" else ""
    connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {quote(table.name + '_no_delete')}{on}")


def _copy(connection: Connection, target: str, rows: Sequence[PlainRow]) -> None:
    cursor = connection.connection.cursor()
    with cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _move_sequence(connection: Connection, table: Table) -> None:
    """The next number comes after those that were filled in."""
    numbered = table.autoincrement_column
    if numbered is None:
        return
    highest = connection.scalar(select(func.max(numbered)))
    connection.execute(
        text("SELECT setval(pg_get_serial_sequence(:table, :column), :highest)"),
        {"table": table.name, "column": numbered.name, "highest": highest},
    )
