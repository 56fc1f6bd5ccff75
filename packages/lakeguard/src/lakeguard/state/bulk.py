"""Many rows by one statement.

To PostgreSQL they go as one value: neither the driver nor the server then works through a text
that grows with them. Rows keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json
from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    String,
    Table,
    TableValuedAlias,
    bindparam,
    cast,
    column,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from lakeguard.state.column_types import UtcTime

Row = Mapping[str, Any]

FEW = 8
"""Fewer than these are not worth it."""
_MOST_ON_SQLITE = 1_000
"""In one statement that answers: SQLite takes no more than 32,766 values."""


def insert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say what becomes of rows that are there already."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_all(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """All rows have the columns of the first."""
    if not rows:
        return
    if connection.dialect.name != "postgresql" or len(rows) < FEW:
        connection.execute(insert(table), list(rows))
        return
    new = _given(table, tuple(rows[0]))
    statement = insert(table).from_select(list(rows[0]), select(*new.c), include_defaults=False)
    connection.execute(statement, {"rows": _as_json(table, rows)})


def insert_new(
    connection: Connection, table: Table, rows: Sequence[Row], unique: Sequence[str], answer: str
) -> set[Any]:
    """The ``answer`` of each row that was added; where the unique columns have a row, it stays."""
    if not rows:
        return set()
    if connection.dialect.name == "postgresql":
        new = _given(table, tuple(rows[0]))
        statement = (
            postgresql.insert(table)
            .from_select(list(rows[0]), select(*new.c), include_defaults=False)
            .on_conflict_do_nothing(index_elements=list(unique))
            .returning(table.c[answer])
        )
        return set(connection.scalars(statement, {"rows": _as_json(table, rows)}))
    alone = sqlite.insert(table).on_conflict_do_nothing(index_elements=list(unique))
    added: set[Any] = set()
    for start in range(0, len(rows), _MOST_ON_SQLITE):
        part = list(rows[start : start + _MOST_ON_SQLITE])
        added |= set(connection.scalars(alone.returning(table.c[answer]), part))
    return added


def update_numbered(
    connection: Connection, table: Table, rows: Sequence[Row], key: str, number: str
) -> int:
    """How many rows got the new values: those whose ``number`` is one less than the new one."""
    if not rows:
        return 0
    values = [name for name in rows[0] if name != key]
    if connection.dialect.name == "postgresql" and len(rows) >= FEW:
        new = _given(table, tuple(rows[0]))
        statement = (
            update(table)
            .where(table.c[key] == new.c[key], table.c[number] == new.c[number] - 1)
            .values({name: new.c[name] for name in values})
        )
        return connection.execute(statement, {"rows": _as_json(table, rows)}).rowcount
    one = (
        update(table)
        .where(table.c[key] == bindparam("of"), table.c[number] == bindparam("was"))
        .values({name: bindparam(f"new_{name}") for name in values})
    )
    given = [
        {"of": row[key], "was": row[number] - 1, **{f"new_{name}": row[name] for name in values}}
        for row in rows
    ]
    return connection.execute(one, given).rowcount


def update_all(
    connection: Connection, table: Table, rows: Sequence[Row], keys: Sequence[str]
) -> None:
    """New values for the rows that have these ``keys``."""
    if not rows:
        return
    values = [name for name in rows[0] if name not in keys]
    if connection.dialect.name == "postgresql" and len(rows) >= FEW:
        new = _given(table, tuple(rows[0]))
        connection.execute(
            update(table)
            .where(*(table.c[key] == new.c[key] for key in keys))
            .values({name: new.c[name] for name in values}),
            {"rows": _as_json(table, rows)},
        )
        return
    one = (
        update(table)
        .where(*(table.c[key] == bindparam(f"of_{key}") for key in keys))
        .values({name: bindparam(f"new_{name}") for name in values})
    )
    given = [
        {f"{'of' if name in keys else 'new'}_{name}": value for name, value in row.items()}
        for row in rows
    ]
    connection.execute(one, given)


def _given(table: Table, columns: Sequence[str]) -> TableValuedAlias:
    """The rows as a table, each value of the type that its column has."""
    like: ColumnElement[Any] = literal_column(f'NULL::"{table.name}"')
    rows = cast(bindparam("rows", type_=String), JSON)
    named = [column(name, table.c[name].type) for name in columns]
    return func.json_populate_recordset(like, rows).table_valued(*named, name="new")


def _as_json(table: Table, rows: Sequence[Row]) -> str:
    times = [name for name in rows[0] if isinstance(table.c[name].type, UtcTime)]
    if any(row[name] is not None and row[name].tzinfo is None for name in times for row in rows):
        raise ValueError("a time needs a zone")
    return to_json(rows).decode()
