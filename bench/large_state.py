"""A State with many ended runs: one real run, repeated by the database for every dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    func,
    insert,
    literal,
    null,
    select,
    text,
)

from bench.history import dataset_name, make_context, publish_numbers
from bench.mould import ORDER, mould_of
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import require_dataset
from lakeguard.state import schema as state
from lakeguard.state.database import Database

REAL = dataset_name(0)
"""The dataset with a table: runs can be made of it. All others have rows in the State alone."""
_REAL_RUNS = 3
_IDS = {
    "run_id": "run",
    "task_id": "task",
    "decision_id": "dec",
    "intent_id": "int",
    "version_id": "ver",
    "materialization_id": "mat",
    "dedupe_key": "task",
    "idempotency_key": "task",
}
_NUMBERS = ("version", "seq", "commit_version")
_LEFT_OUT = (state.documents,)
"""What runs share is stored once."""
_QUICK = ("synchronous=OFF", "journal_mode=OFF", "foreign_keys=OFF", "cache_size=-1000000")


def make_large_state(folder: Path, runs: int, datasets: int) -> PlaneContext:
    """``runs`` published runs, spread evenly over ``datasets``; no outbox row waits."""
    database = Database(f"sqlite:///{folder}/.lakeguard/state.db")
    context = make_context(database, folder, datasets)
    for _ in range(_REAL_RUNS):
        run_id, location = publish_numbers(context, REAL)
    with context.read() as tx:
        mould = mould_of(tx.connection, run_id, location)
        transitions = select(state.task_transitions).where(
            state.task_transitions.c.task_id == _task_of(mould.rows)
        )
        rows = [
            *mould.rows,
            *((state.task_transitions, dict(r._mapping)) for r in tx.execute(transitions)),
        ]
        real = require_dataset(tx, REAL).dataset_id
    with _quick_engine(database).connect() as connection, _without_indexes(connection):
        connection.execute(text("BEGIN"))
        for number, some in _rounds(runs, datasets - 1):
            _repeat(connection, rows, number, some, real)
        connection.execute(state.outbox.delete())
        connection.execute(text("COMMIT"))
    return context


def _quick_engine(database: Database) -> Engine:
    """It does not wait for the disk, cannot undo, and does not look up what rows refer to."""
    engine = create_engine(database.url, isolation_level="AUTOCOMMIT")

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: object) -> None:
        for setting in _QUICK:
            connection.execute(f"PRAGMA {setting}")

    return engine


@contextmanager
def _without_indexes(connection: Connection) -> Iterator[None]:
    """Made again at the end, sorted: kept up row by row, they take most of the time."""
    query = text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    found = connection.execute(query).all()
    for name, _ in found:
        connection.execute(text(f"DROP INDEX {name}"))
    yield
    for _, definition in found:
        connection.exec_driver_sql(definition)


def _task_of(rows: Iterable[tuple[Table, dict[str, Any]]]) -> str:
    return next(row["task_id"] for table, row in rows if table is state.tasks)


def _rounds(runs: int, datasets: int) -> Iterator[tuple[int, int]]:
    """A number from 1, and of how many datasets one more run is made."""
    number = 0
    while runs > 0:
        number += 1
        yield number, min(runs, datasets)
        runs -= datasets


def _repeat(
    connection: Connection,
    rows: Iterable[tuple[Table, dict[str, Any]]],
    number: int,
    some: int,
    real: str,
) -> None:
    registered = state.dataset_registry_revisions.c
    for table, row in sorted(rows, key=_after_referred):
        if table in _LEFT_OUT:
            continue
        columns = [column for column in table.c if _is_given(table, column)]
        values = [
            _value(table, column, row[column.name], number).label(column.name) for column in columns
        ]
        chosen = (
            select(*values)
            .where(registered.revision == 1, registered.dataset_id != real)
            .order_by(registered.dataset_id)
            .limit(some)
        )
        connection.execute(insert(table).from_select([column.name for column in columns], chosen))


def _after_referred(item: tuple[Table, dict[str, Any]]) -> int:
    return (*ORDER, state.task_transitions).index(item[0])


def _is_given(table: Table, column: Column[Any]) -> bool:
    """The database numbers runs and promotions itself."""
    return column is not table.autoincrement_column


def _value(table: Table, column: Column[Any], value: Any, number: int) -> ColumnElement[Any]:
    dataset = state.dataset_registry_revisions.c.dataset_id
    if value is None:
        return null()
    if column.name == "dataset_id":
        return dataset
    if column.name in _IDS:
        prefix = literal(f"{_IDS[column.name]}_{number:06d}")
        return prefix + func.substr(func.replace(dataset, "-", ""), 13, 20)
    pointer = table is state.dataset_pointers and column.name == "ordinal"
    if column.name in _NUMBERS or pointer:
        return literal(number)
    if column.name in ("base_version", "base_commit"):
        return literal(number - 1) if number > 1 else null()
    return literal(value, column.type)
