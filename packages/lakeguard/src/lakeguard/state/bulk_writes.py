"""Many rows by one statement.

To PostgreSQL they go as one value: neither the driver nor the server then works through a text
that grows with them. What all of them share goes beside it, once. Rows keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from operator import is_, itemgetter
from typing import Any, TypeVar

from pydantic_core import to_json
from sqlalchemy import (
    JSON,
    ColumnElement,
    Insert,
    String,
    Table,
    Update,
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

from lakeguard.state.tables.metadata import UtcTime
from lakeguard.state.transaction import Transaction

Row = Mapping[str, Any]

FEW = 8
"""Fewer than these are not worth it."""
_MOST_ON_SQLITE = 1_000
"""In one statement that answers: SQLite takes no more than 32,766 values."""


def insert_into(tx: Transaction, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say what becomes of rows that are there already."""
    if tx.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_all(tx: Transaction, table: Table, rows: Sequence[Row]) -> None:
    """All rows have the columns of the first."""
    if not rows:
        return
    if tx.dialect.name != "postgresql" or len(rows) < FEW:
        tx.execute(_insert(table), list(rows))
        return
    new = _given(table, rows)
    chosen = select(*new.columns.values())
    statement = insert(table).from_select(list(new.columns), chosen, include_defaults=False)
    tx.execute(statement, new.values)


def insert_new(
    tx: Transaction, table: Table, rows: Sequence[Row], unique: Sequence[str], answer: str
) -> set[Any]:
    """The ``answer`` of each row that was added; where the unique columns have a row, it stays."""
    if not rows:
        return set()
    if tx.dialect.name == "postgresql":
        new = _given(table, rows)
        chosen = select(*new.columns.values())
        statement = (
            postgresql.insert(table)
            .from_select(list(new.columns), chosen, include_defaults=False)
            .on_conflict_do_nothing(index_elements=list(unique))
            .returning(table.c[answer])
        )
        return set(tx.scalars(statement, new.values))
    alone = sqlite.insert(table).on_conflict_do_nothing(index_elements=list(unique))
    added: set[Any] = set()
    for part in in_pieces(rows, _MOST_ON_SQLITE):
        added |= set(tx.scalars(alone.returning(table.c[answer]), list(part)))
    return added


def update_numbered(
    tx: Transaction, table: Table, rows: Sequence[Row], key: str, number: str
) -> int:
    """How many rows got the new values: those whose ``number`` is one less than the new one."""
    if not rows:
        return 0
    values = [name for name in rows[0] if name != key]
    if tx.dialect.name == "postgresql" and len(rows) >= FEW:
        new = _given(table, rows)
        statement = (
            update(table)
            .where(table.c[key] == new.columns[key], table.c[number] == new.columns[number] - 1)
            .values({name: new.columns[name] for name in values})
        )
        return tx.execute(statement, new.values).rowcount
    one = _update_numbered(table, key, number, tuple(values))
    given = [
        {"of": row[key], "was": row[number] - 1, **{f"new_{name}": row[name] for name in values}}
        for row in rows
    ]
    return tx.execute(one, given).rowcount


@cache
def _insert(table: Table) -> Insert:
    """Put together once: a worker that takes a task at a time asks for it as often."""
    return insert(table)


@cache
def _update_numbered(table: Table, key: str, number: str, values: tuple[str, ...]) -> Update:
    return (
        update(table)
        .where(table.c[key] == bindparam("of"), table.c[number] == bindparam("was"))
        .values({name: bindparam(f"new_{name}") for name in values})
    )


def update_all(tx: Transaction, table: Table, rows: Sequence[Row], keys: Sequence[str]) -> None:
    """New values for the rows that have these ``keys``."""
    if not rows:
        return
    values = [name for name in rows[0] if name not in keys]
    if tx.dialect.name == "postgresql" and len(rows) >= FEW:
        new = _given(table, rows)
        statement = (
            update(table)
            .where(*(table.c[key] == new.columns[key] for key in keys))
            .values({name: new.columns[name] for name in values})
        )
        tx.execute(statement, new.values)
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
    tx.execute(one, given)


@dataclass(frozen=True)
class _Given:
    """Rows as a statement reads them."""

    columns: dict[str, ColumnElement[Any]]
    """By name, each of the type that its column has."""
    values: dict[str, Any]


def _given(table: Table, rows: Sequence[Row]) -> _Given:
    shared = shared_values(rows, tuple(rows[0]))
    if len(shared) == len(rows[0]):
        shared.popitem()  # as many rows as there are must come from somewhere
    differing = [name for name in rows[0] if name not in shared]
    like: ColumnElement[Any] = literal_column(f'NULL::"{table.name}"')
    given = cast(bindparam("rows", type_=String), JSON)
    named = [column(name, table.c[name].type) for name in differing]
    new = func.json_populate_recordset(like, given).table_valued(*named, name="new")
    return _Given(
        {name: _shared(table, name) if name in shared else new.c[name] for name in rows[0]},
        {f"every_{name}": value for name, value in shared.items()}
        | {"rows": _as_json(table, [{name: row[name] for name in differing} for row in rows])},
    )


def shared_values(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    """By name, what all rows have there; None where they have no such column. It must be one
    object: to see that costs little, and no two values that only compare as equal count as one.
    """
    found = {name: rows[0].get(name) for name in names}
    known = [name for name in names if name in rows[0]]
    for name in known:
        if not all(map(is_, map(itemgetter(name), rows), repeat(found[name]))):
            del found[name]
    return found


def _shared(table: Table, name: str) -> ColumnElement[Any]:
    kind = table.c[name].type
    return cast(bindparam(f"every_{name}", type_=kind), kind)


def _as_json(table: Table, rows: Sequence[Row]) -> str:
    times = [name for name in rows[0] if isinstance(table.c[name].type, UtcTime)]
    if any(row[name] is not None and row[name].tzinfo is None for name in times for row in rows):
        raise ValueError("a time needs a zone")
    return to_json(rows).decode()


# Questions about many keys, some of them at a time.

T = TypeVar("T")

AT_ONCE = 1_000
"""Each is a placeholder: drivers and servers work through a text that grows with them."""


def in_pieces(values: Sequence[T], size: int = AT_ONCE) -> Iterator[Sequence[T]]:
    """In their order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
