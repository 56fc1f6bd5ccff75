"""Delivers to a live table: stages the rows, then changes the table in one transaction."""

from __future__ import annotations

from psycopg import sql

from lakeguard_sdk.core.enums import HashStrategy, LoadType
from lakeguard_sdk.model.delivery import ASK, MAY_ASK, DatabaseTable, Delivery, role_mark
from lakeguard_sdk.model.load import KEY_HASH, VALID_FROM, Load
from lakeguard_sdk.model.read_models import ResolvedDataset, RunRow, VersionRow
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.deliver.postgresql.connection import (
    Connection,
    connected,
    hold,
    wait_shortly,
)
from openlaketx.deliver.postgresql.marker import (
    Delivered,
    create_markers,
    read_marker,
    write_marker,
)
from openlaketx.deliver.postgresql.stage import STAGING, stage_rows
from openlaketx.deliver.postgresql.table import (
    columns_of,
    fitting_columns,
    give_columns,
    identifier,
)
from openlaketx.deliver.published_version import failed, published, version_of


def deliver_to_postgresql(delivery: Delivery, reader: Reader) -> Delivered | None:
    """Make the table show the currently published version; None if it does already.

    One transaction, including the marker: readers see the previous version or this one, and a crash
    leaves nothing.
    """
    first = published(delivery.dataset, reader)
    if first is None:
        return None
    table = delivery.table
    with connected(table, first) as connection:
        _require_apart(connection, table, first)
        create_markers(connection, table)
        with connection.transaction():
            made = _deliver(connection, delivery, reader)
        reached("deliver.committed")
    return made


def _deliver(connection: Connection, delivery: Delivery, reader: Reader) -> Delivered | None:
    table = delivery.table
    hold(connection, table.schema_name, table.table_name)
    shown = published(delivery.dataset, reader)
    if shown is None:
        return None
    known = read_marker(connection, table)
    if known is not None and known.is_of(shown) and columns_of(connection, table):
        return None
    version, run = version_of(shown, reader)
    columns = fitting_columns(connection, table, shown, known)
    key = row_key(delivery.load, shown.table_schema)
    rows = stage_rows(connection, columns, shown, key)
    reached("deliver.staged")
    wait_shortly(connection)
    give_columns(connection, table, shown, columns)
    _show_staged(connection, table, tuple(columns), key)
    made = _delivered(table, shown, version, run, rows)
    write_marker(connection, table, made)
    reached("deliver.marked")
    return made


def _delivered(
    table: DatabaseTable, shown: ResolvedDataset, version: VersionRow, run: RunRow, rows: int
) -> Delivered:
    return Delivered(
        table_name=table.table_name,
        dataset=shown.dataset,
        dataset_id=shown.dataset_id,
        version=shown.version,
        table_id=shown.table_id,
        commit=shown.commit,
        run_id=version.run_id,
        decision_id=version.decision_id,
        rows=rows,
        org_id=table.organisation or None,
        job_id=run.job_id,
        task_id=run.task_id,
    )


def row_key(load: Load, schema: TableSchema) -> tuple[str, ...]:
    """The columns that identify a row; empty if the load has no keys.

    Also empty for a version from before the load had keys.
    """
    key = (KEY_HASH,) if load.hash is HashStrategy.KEY_HASH else load.keys
    if key and load.type is LoadType.SCD2:
        key = (*key, VALID_FROM)
    return key if set(key) <= set(schema.names) else ()


# Checks of the target database: never write where a State is.

_OF_A_STATE = ["dataset_pointers", "outbox", "plane_identity"]
"""Tables that every State has, whoever owns them."""
_STATES = (
    "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relname = ANY(%s) AND c.relkind IN ('r', 'p')"
    " GROUP BY n.nspname HAVING count(*) = %s ORDER BY n.nspname LIMIT 1"
)


def _require_apart(connection: Connection, table: DatabaseTable, shown: ResolvedDataset) -> None:
    """Refuses a database that holds a State, under any address; and the role that owns this control
    plane's State, even in another database."""
    held = connection.execute(_STATES, [_OF_A_STATE, len(_OF_A_STATE)]).fetchone()
    if held is not None:
        raise failed(
            shown,
            f"the database contains a State, in schema {held[0]}: use another database for the"
            " target",
        )
    if table.apart_from and _writer(connection) == table.apart_from:
        raise failed(shown, "its role owns the State: use another role for the target")


def _writer(connection: Connection) -> str:
    """Empty if the server does not report it."""
    found = connection.execute(MAY_ASK).fetchone()
    if found is None or not found[0]:
        return ""
    found = connection.execute(ASK).fetchone()
    return "" if found is None else role_mark(found[0], found[1])


# Replaces the shown rows by the staged ones, touching only rows that differ.

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


def _show_staged(
    connection: Connection, table: DatabaseTable, columns: tuple[str, ...], key: tuple[str, ...]
) -> None:
    """Makes the table show exactly the staged rows at commit.

    Matched by key if the table has one; otherwise all rows are replaced and the key is created.
    Nothing is truncated, so readers see the previous rows until then.
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
