"""The two sides of the proof, a part at a time: rows of the State and rows of the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, select, type_coerce
from sqlalchemy.types import NullType

from lakeguard.insight.verifying.digests import odd_digests, row_digests
from lakeguard.relay.catalogue import BATCH, LedgerTable
from lakeguard.relay.rows import PlainRow, arrow_schema, from_arrow
from lakeguard_sdk.canonical import format_instant

_AT_ONCE = 50_000
_BARE = NullType()

Rows = Sequence[Sequence[Any]]


def state_digests(
    connection: Connection, table: LedgerTable, where: ColumnElement[bool]
) -> Iterator[bytes]:
    """Of every row that the State holds."""
    for rows in _parts(connection, table, where):
        yield from _digests(table, rows)


def state_rows_with(
    connection: Connection, table: LedgerTable, where: ColumnElement[bool], wanted: set[bytes]
) -> Iterator[PlainRow]:
    """Rows whose digest is one of ``wanted``, in their plain form."""
    kinds = [table.kind_of(name) for name in table.columns]
    for rows in _parts(connection, table, where):
        for row, digest in zip(rows, _digests(table, rows), strict=True):
            if digest in wanted:
                yield tuple(map(_plain, row, kinds))


@dataclass(frozen=True)
class LedgerSide:
    """One table of the ledger: its rows, which batch told each, and the digest of each."""

    table: LedgerTable
    data: pa.Table
    batches: list[int]
    digests: list[bytes]

    def rows(self, places: Sequence[int]) -> list[PlainRow]:
        return from_arrow(self.table, self.data.take(pa.array(places, pa.int64())))


def ledger_side(table: LedgerTable, data: pa.Table) -> LedgerSide:
    """Raises ``pa.ArrowInvalid`` where what was read is not what a table can hold."""
    data.validate(full=True)
    digests: list[bytes] = []
    for part in data.to_batches(max_chunksize=_AT_ONCE):
        digests += row_digests(table, {name: part.column(name) for name in table.columns})
    return LedgerSide(table, data, data[BATCH].to_pylist(), digests)


def _parts(
    connection: Connection, table: LedgerTable, where: ColumnElement[bool]
) -> Iterator[Rows]:
    """The columns come without their Python types, which would cost more than all the rest."""
    bare = (type_coerce(table.source.columns[name], _BARE) for name in table.columns)
    asked = select(*bare).where(where).execution_options(yield_per=_AT_ONCE)
    yield from connection.execute(asked).partitions()


def _digests(table: LedgerTable, rows: Rows) -> list[bytes]:
    schema = arrow_schema(table)
    try:
        columns = {
            name: _array(values, table.kind_of(name), schema.field(name).type)
            for name, values in zip(table.columns, zip(*rows, strict=True), strict=True)
        }
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        kinds = [table.kind_of(name) for name in table.columns]
        return odd_digests(table, [tuple(map(_plain, row, kinds)) for row in rows])
    return row_digests(table, columns)


def _array(values: tuple[Any, ...], kind: str, to: pa.DataType) -> pa.Array:
    if kind == "flag":
        return pa.array([None if value is None else bool(value) for value in values], to)
    if kind == "time" and any(isinstance(value, str) for value in values):
        return pa.array(values, pa.string())
    return pa.array(values, to)


def _plain(value: Any, kind: str) -> Any:
    if kind == "flag":
        return None if value is None else bool(value)
    return format_instant(value) if kind == "time" and hasattr(value, "tzinfo") else value
