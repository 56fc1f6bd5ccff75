"""From what the table shows to what is staged: only rows that differ are touched.

Rows are compared byte by byte: -0.0 is not 0.0, and NULL is itself.
"""

from __future__ import annotations

from psycopg import sql

from lakeguard_sdk.database import DatabaseTable
from openlaketx.deliver.postgresql.connecting import Connection
from openlaketx.deliver.postgresql.staging import STAGING
from openlaketx.deliver.postgresql.table import identifier

_KEY = (
    "SELECT a.attname FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY k(number, place)"
    " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number"
    " WHERE i.indexrelid = to_regclass(%s) AND i.indrelid = to_regclass(%s)"
    " AND i.indisunique AND i.indisvalid AND i.indpred IS NULL ORDER BY k.place"
)
_WRITERS_WAIT = sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE")
_DELETE = sql.SQL(
    "DELETE FROM {table} AS t WHERE NOT EXISTS (SELECT FROM {staging} AS s WHERE {same_key})"
)
_UPDATE = sql.SQL(
    "UPDATE {table} AS t SET ({names}) = ROW ({staged}) FROM {staging} AS s"
    " WHERE {same_key} AND CAST(ROW ({live}) AS record)"
    " OPERATOR(pg_catalog.*<>) CAST(ROW ({staged}) AS record)"
)
_INSERT = sql.SQL(
    "INSERT INTO {table} ({names}) SELECT {staged} FROM {staging} AS s"
    " WHERE NOT EXISTS (SELECT FROM {table} AS t WHERE {same_key})"
)
_DROP_KEY = sql.SQL("DROP INDEX IF EXISTS {}")
_DELETE_ALL = sql.SQL("DELETE FROM {table}")
_INSERT_ALL = sql.SQL("INSERT INTO {table} ({names}) SELECT {staged} FROM {staging} AS s")
_CREATE_KEY = sql.SQL("CREATE UNIQUE INDEX {} ON {} ({})")


def show_staged(
    connection: Connection, table: DatabaseTable, columns: tuple[str, ...], key: tuple[str, ...]
) -> None:
    """The table shows the staged rows and no other once the transaction is committed.

    By key where the table has it; else all rows are replaced, and the key is made. Readers see
    the rows before until then: nothing is truncated.
    """
    connection.execute(_WRITERS_WAIT.format(identifier(table)))
    words = _words(table, columns, key)
    if key and _key_of(connection, table) == key:
        for statement in (_DELETE, _UPDATE, _INSERT):
            connection.execute(statement.format(**words))
        return
    connection.execute(_DELETE_ALL.format(**words))
    connection.execute(_DROP_KEY.format(_key_index(table)))
    connection.execute(_INSERT_ALL.format(**words))
    if key:
        name = sql.Identifier(f"key_of_{table.table_name}")
        names = sql.SQL(", ").join(map(sql.Identifier, key))
        connection.execute(_CREATE_KEY.format(name, identifier(table), names))


def _words(
    table: DatabaseTable, columns: tuple[str, ...], key: tuple[str, ...]
) -> dict[str, sql.Composable]:
    return {
        "table": identifier(table),
        "staging": STAGING,
        "names": sql.SQL(", ").join(map(sql.Identifier, columns)),
        "live": _of("t", columns),
        "staged": _of("s", columns),
        "same_key": sql.SQL(" AND ").join(
            sql.SQL("{} = {}").format(sql.Identifier("t", name), sql.Identifier("s", name))
            for name in key
        ),
    }


def _of(relation: str, columns: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(relation, name) for name in columns)


def _key_index(table: DatabaseTable) -> sql.Identifier:
    return sql.Identifier(table.schema_name, f"key_of_{table.table_name}")


def _key_of(connection: Connection, table: DatabaseTable) -> tuple[str, ...]:
    names = [name.as_string(connection) for name in (_key_index(table), identifier(table))]
    return tuple(str(name) for (name,) in connection.execute(_KEY, names))
