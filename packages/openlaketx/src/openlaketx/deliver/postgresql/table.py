"""The live table: created once; columns are only added and widened."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
from psycopg import sql

from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.types.schema import Column, decimal_size
from openlaketx.deliver.postgresql.connection import Connection
from openlaketx.deliver.postgresql.marker import Delivered
from openlaketx.deliver.published_version import failed

_COLUMNS = (
    "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
    " WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_CREATE = sql.SQL("CREATE TABLE {} ({})")
_COMMENT = sql.SQL("COMMENT ON TABLE {} IS {}")
_ALTER = sql.SQL("ALTER TABLE {} {}")
_COLUMN = sql.SQL("{} {}")
_ADD = sql.SQL("ADD COLUMN {}")
_WIDEN = sql.SQL("ALTER COLUMN {} TYPE {}")
_HAS_VALUES = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE {} IS NOT NULL)")


def identifier(table: DatabaseTable) -> sql.Identifier:
    return sql.Identifier(table.schema_name, table.table_name)


def columns_of(connection: Connection, table: DatabaseTable) -> dict[str, str]:
    """The table's columns and their types; empty if there is no table."""
    found = connection.execute(_COLUMNS, [identifier(table).as_string(connection)])
    return {str(name): str(kind) for name, kind in found}


def fitting_columns(
    connection: Connection, table: DatabaseTable, shown: ResolvedDataset, known: Delivered | None
) -> dict[str, str]:
    """The columns that the table needs for the version: its own, widened if necessary, and new
    ones.

    A table that LakeGuard did not create is refused, and so is every other difference: dependent
    objects belong to the users.
    """
    _check_names(table, shown)
    there = columns_of(connection, table)
    if there:
        _check_owner(table, shown, known)
    wanted = {column.name: _column_type(column) for column in shown.table_schema.columns}
    back = known is not None and shown.version < known.version
    problems = [
        *_types_that_differ(there, wanted),
        *(_columns_too_many(connection, table, there, wanted) if not back else ()),
    ]
    if problems:
        raise failed(
            shown,
            f"{'; '.join(problems)}: drop table {table.full_name}; the next run creates it again",
        )
    return there | {
        name: there[name] if name in there and _can_hold(there[name], kind) else kind
        for name, kind in wanted.items()
    }


def give_columns(
    connection: Connection, table: DatabaseTable, shown: ResolvedDataset, columns: dict[str, str]
) -> None:
    """Gives the table exactly these columns. If that changes it, readers wait until the commit."""
    there = columns_of(connection, table)
    if not there:
        connection.execute(_CREATE.format(identifier(table), columns_sql(columns)))
        comment = f"{shown.dataset}: live and unversioned; shows what LakeGuard published last"
        connection.execute(_COMMENT.format(identifier(table), sql.Literal(comment)))
    elif columns != there:
        _widen(connection, table, shown, {n: k for n, k in columns.items() if n in there})
        added = [_ADD.format(columns_sql({n: columns[n]})) for n in columns if n not in there]
        if added:
            connection.execute(_ALTER.format(identifier(table), sql.SQL(", ").join(added)))


def _widen(
    connection: Connection, table: DatabaseTable, shown: ResolvedDataset, columns: dict[str, str]
) -> None:
    """All columns in one statement, so that rows are rewritten once."""
    there = columns_of(connection, table)
    wider = {name: kind for name, kind in columns.items() if kind != there[name]}
    if not wider:
        return
    changes = [_WIDEN.format(sql.Identifier(n), sql.SQL(kind)) for n, kind in wider.items()]
    try:
        connection.execute(_ALTER.format(identifier(table), sql.SQL(", ").join(changes)))
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.InvalidTableDefinition) as error:
        names = ", ".join(f"{name} {kind}" for name, kind in wider.items())
        why = error.diag.message_detail or error.diag.message_primary
        raise failed(
            shown,
            f"table {table.full_name} cannot have {names}: {why}. Drop what depends on it; the next"
            " run widens the table, then make it again",
        ) from None


def columns_sql(columns: dict[str, str]) -> sql.Composed:
    """Names are quoted; types come from a fixed list or from PostgreSQL."""
    parts: list[sql.Composable] = [
        _COLUMN.format(sql.Identifier(name), sql.SQL(kind)) for name, kind in columns.items()
    ]
    return sql.SQL(", ").join(parts)


def _check_names(table: DatabaseTable, shown: ResolvedDataset) -> None:
    for name in (table.schema_name, f"key_of_{table.table_name}", *shown.table_schema.names):
        problem = _name_problem(name)
        if problem:
            raise failed(shown, problem)


def _check_owner(table: DatabaseTable, shown: ResolvedDataset, known: Delivered | None) -> None:
    if known is None:
        raise failed(
            shown,
            f"table {table.full_name} exists and was not created by LakeGuard: rename it, or"
            " give the target another schema",
        )
    if known.dataset_id != shown.dataset_id:
        raise failed(
            shown,
            f"table {table.full_name} belongs to {known.dataset} of another registry"
            f" ({known.dataset_id}): drop it, or give the target another schema",
        )


def _types_that_differ(there: dict[str, str], wanted: dict[str, str]) -> Iterator[str]:
    """Except types that become wider, or are wider already."""
    for name in [name for name in there if name in wanted]:
        has, needs = there[name], wanted[name]
        if not _can_hold(has, needs) and not _can_hold(needs, has):
            yield f"column {name} is {has} there and {needs} in the version"


def _columns_too_many(
    connection: Connection, table: DatabaseTable, there: dict[str, str], wanted: dict[str, str]
) -> Iterator[str]:
    """Columns that the version lacks; a column emptied by a rollback may stay."""
    for name in [name for name in there if name not in wanted]:
        query = _HAS_VALUES.format(identifier(table), sql.Identifier(name))
        found = connection.execute(query).fetchone()
        if found is not None and found[0]:
            yield f"column {name} is there and not in the version"


# The PostgreSQL type of each column type; every value is represented exactly.

LONGEST_NAME = 63
"""Bytes: PostgreSQL silently truncates longer names."""

_TYPES = {
    "string": "text",
    "boolean": "boolean",
    "byte": "smallint",
    "short": "smallint",
    "integer": "integer",
    "long": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
    "binary": "bytea",
}


def _column_type(column: Column) -> str:
    """As PostgreSQL spells it; nested columns are JSON."""
    size = decimal_size(column.type)
    if size is not None:
        return f"numeric({size[0]},{size[1]})"
    return _TYPES.get(column.type, "jsonb")


def _name_problem(name: str) -> str | None:
    if len(name.encode()) > LONGEST_NAME:
        return f"{name} is longer than the {LONGEST_NAME} bytes that PostgreSQL keeps of a name"
    return None


# PostgreSQL types that can represent every value of another type.

_WHOLE = {"smallint": 5, "integer": 10, "bigint": 19}
"""With the digits of the largest value, narrowest type first."""
_WIDER = {
    "smallint": ("integer", "bigint", "real", "double precision"),
    "integer": ("bigint", "double precision"),
    "real": ("double precision",),
    "date": ("timestamp without time zone", "timestamp with time zone"),
}
"""A date becomes midnight, in UTC for a type with time zone."""
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")


def _can_hold(wide: str, narrow: str) -> bool:
    """Whether one type can represent every value of the other; both as PostgreSQL spells them."""
    if wide == narrow or wide in _WIDER.get(narrow, ()):
        return True
    room, needed = _digits(wide), _digits(narrow)
    if room is None or needed is None or wide in _WHOLE:
        return False
    return all(has >= needs for has, needs in zip(room, needed, strict=True))


def _digits(kind: str) -> tuple[int, int] | None:
    """Digits before and after the point; None for types that are not exact numbers."""
    if kind in _WHOLE:
        return _WHOLE[kind], 0
    found = _NUMERIC.fullmatch(kind)
    return None if found is None else (int(found[1]) - int(found[2]), int(found[2]))
