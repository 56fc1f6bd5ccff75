"""Bulk inserts and updates in one statement.

PostgreSQL gets all rows as one array parameter, so neither driver nor server parses a statement
that grows with them. Values shared by all rows are sent once. Row order is preserved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

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

from lakeguard.state.tables.metadata import UtcTime
from lakeguard.state.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

Row = Mapping[str, Any]

FEW_ROWS = 8
"""Below this many rows, plain statements are faster than an array of rows."""
_MOST_ON_SQLITE = 1_000
"""Rows per INSERT … RETURNING: SQLite allows at most 32,766 parameters."""


def insert_into(tx: Transaction, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT with an ON CONFLICT clause."""
    return _dialect_insert(tx)(table)


def _dialect_insert(tx: Transaction) -> Callable[[Table], postgresql.Insert | sqlite.Insert]:
    """Loads one dialect only; that of PostgreSQL brings all its drivers."""
    if tx.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert
    from sqlalchemy.dialects import sqlite

    return sqlite.insert


def insert_all(tx: Transaction, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows that all have the columns of the first."""
    if not rows:
        return
    if tx.dialect.name != "postgresql" or len(rows) < FEW_ROWS:
        tx.execute(_insert(table), list(rows))
        return
    new = _given(table, rows)
    chosen = select(*new.columns.values())
    statement = insert(table).from_select(list(new.columns), chosen, include_defaults=False)
    tx.execute(statement, new.values)


def insert_new(
    tx: Transaction, table: Table, rows: Sequence[Row], unique: Sequence[str], answer: str
) -> set[Any]:
    """Insert rows and return column ``answer`` of those added; existing rows are left unchanged."""
    if not rows:
        return set()
    if tx.dialect.name == "postgresql":
        new = _given(table, rows)
        chosen = select(*new.columns.values())
        statement = (
            insert_into(tx, table)
            .from_select(list(new.columns), chosen, include_defaults=False)
            .on_conflict_do_nothing(index_elements=list(unique))
            .returning(table.c[answer])
        )
        return set(tx.scalars(statement, new.values))
    alone = insert_into(tx, table).on_conflict_do_nothing(index_elements=list(unique))
    added: set[Any] = set()
    for part in in_pieces(rows, _MOST_ON_SQLITE):
        added |= set(tx.scalars(alone.returning(table.c[answer]), list(part)))
    return added


@dataclass(frozen=True)
class NumberedUpdate:
    """New values of rows, each only if its ``number`` is one less than the new one."""

    table: Table
    rows: Sequence[Row]
    key: str
    number: str


def update_numbered(tx: Transaction, new_values: NumberedUpdate) -> int:
    """How many rows were changed."""
    table, rows = new_values.table, new_values.rows
    key, number = new_values.key, new_values.number
    if not rows:
        return 0
    values = [name for name in rows[0] if name != key]
    if tx.dialect.name == "postgresql" and len(rows) >= FEW_ROWS:
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


def write_together(
    tx: Transaction, new_values: NumberedUpdate, added: Sequence[tuple[Table, Sequence[Row]]]
) -> int:
    """Update and insert in one statement of PostgreSQL; return how many rows were updated: all, or
    none, and then nothing is inserted. Rows of one table are inserted in order."""
    changed = new_values.table, tuple(new_values.rows[0])
    tables = tuple((table, tuple(rows[0])) for table, rows in added)
    several = len(new_values.rows) > 1
    statement = _together(changed, new_values.key, new_values.number, tables, several=several)
    values: dict[str, Any] = {"changed": _as_json(new_values.table, new_values.rows)}
    values["keys"] = [row[new_values.key] for row in new_values.rows]
    values |= {f"rows_{place}": _as_json(*each) for place, each in enumerate(added)}
    return int(tx.value_of(statement, values))


_Columns = tuple[Table, tuple[str, ...]]


@cache
def _together(
    changed: _Columns,
    key: str,
    number: str,
    added: tuple[_Columns, ...],
    *,
    several: bool,
) -> str:
    """Built once for each set of tables and columns, of their names only."""
    table, columns = changed
    values = ", ".join(f'"{name}" = given."{name}"' for name in columns if name != key)
    where = f'old."{key}" = given."{key}" AND old."{number}" = given."{number}" - 1'
    where += f' AND old."{key}" = ANY(CAST(%(keys)s AS varchar[]))'  # for the index
    source, parts = _recordset(table, "changed"), list[str]()
    if several:
        matching = f'SELECT 1 FROM "{table.name}" AS old, {source} WHERE {where} FOR UPDATE OF old'  # noqa: S608
        parts.append(f"matching AS ({matching})")
        where += " AND (SELECT count(*) FROM matching) = cardinality(CAST(%(keys)s AS varchar[]))"
    update = f'UPDATE "{table.name}" AS old SET {values} FROM {source} WHERE {where} RETURNING 1'  # noqa: S608
    parts.append(f"changed AS ({update})")
    for place, (into, inserted) in enumerate(added):
        names = ", ".join(f'"{name}"' for name in inserted)
        rows = f"SELECT {names} FROM {_recordset(into, f'rows_{place}')}"  # noqa: S608
        new = f'INSERT INTO "{into.name}" ({names}) {rows} WHERE EXISTS (SELECT FROM changed)'
        parts.append(f"added_{place} AS ({new})")
    return f"WITH {', '.join(parts)} SELECT count(*) FROM changed"  # noqa: S608


def _recordset(table: Table, parameter: str) -> str:
    row = f'CAST(NULL AS "{table.name}")'
    return f"json_populate_recordset({row}, CAST(%({parameter})s AS json)) AS given"


@cache
def _insert(table: Table) -> Insert:
    """Cached: a worker that claims tasks one by one builds the same statement each time."""
    return insert(table)


@cache
def _update_numbered(table: Table, key: str, number: str, values: tuple[str, ...]) -> Update:
    return (
        update(table)
        .where(table.c[key] == bindparam("of"), table.c[number] == bindparam("was"))
        .values({name: bindparam(f"new_{name}") for name in values})
    )


def update_all(tx: Transaction, table: Table, rows: Sequence[Row], keys: Sequence[str]) -> None:
    """Update the rows identified by ``keys``."""
    if not rows:
        return
    values = [name for name in rows[0] if name not in keys]
    if tx.dialect.name == "postgresql" and len(rows) >= FEW_ROWS:
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
    """Rows as parameters of one statement."""

    columns: dict[str, ColumnElement[Any]]
    """Columns by name, with the type of the table's column."""
    values: dict[str, Any]


def _given(table: Table, rows: Sequence[Row]) -> _Given:
    shared = shared_values(rows, tuple(rows[0]))
    if len(shared) == len(rows[0]):
        shared.popitem()  # an array is needed to produce the row count
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
    """Values that all rows share, by column; None where the column is absent.

    Compared by identity: cheap, and values that are merely equal do not count as shared.
    """
    found = {name: rows[0].get(name) for name in names}
    known = [name for name in names if name in rows[0]]
    for name in known:
        if not all(map(is_, map(itemgetter(name), rows), repeat(found[name]))):
            del found[name]
    return found


def _shared(table: Table, name: str) -> ColumnElement[Any]:
    kind = table.c[name].type
    whole = String() if isinstance(kind, String) else kind  # a cast to a length would cut it off
    return cast(bindparam(f"every_{name}", type_=kind), whole)


def _as_json(table: Table, rows: Sequence[Row]) -> str:
    times = _times(table, tuple(rows[0]))
    if any(row[name] is not None and row[name].tzinfo is None for name in times for row in rows):
        raise ValueError("a time needs a zone")
    return to_json(rows).decode()


@cache
def _times(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if isinstance(table.c[name].type, UtcTime))


# Queries over many keys, in batches.

T = TypeVar("T")

AT_ONCE = 1_000
"""Keys per query: every key is a placeholder, so larger batches cost more to parse."""


def in_pieces(values: Sequence[T], size: int = AT_ONCE) -> Iterator[Sequence[T]]:
    """Split keys into batches, in order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
