"""Rows of State and ledger, read table by table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import ColumnElement, select, type_coerce
from sqlalchemy.types import NullType

from lakeguard.relay.chain import row_digest
from lakeguard.relay.rows import PlainRow, arrow_schema, from_arrow, payload_maker
from lakeguard.relay.tables import BATCH, LedgerTable
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant

_AT_ONCE = 50_000
_BARE = NullType()

Rows = Sequence[Sequence[Any]]


def state_digests(
    tx: Transaction, table: LedgerTable, where: ColumnElement[bool]
) -> Iterator[bytes]:
    """Digests of the State's rows."""
    for rows in _parts(tx, table, where):
        yield from _digests(table, rows)


def state_rows_with(
    tx: Transaction, table: LedgerTable, where: ColumnElement[bool], wanted: set[bytes]
) -> Iterator[PlainRow]:
    """Rows with a digest in ``wanted``, in plain form."""
    kinds = [table.kind_of(name) for name in table.columns]
    for rows in _parts(tx, table, where):
        for row, digest in zip(rows, _digests(table, rows), strict=True):
            if digest in wanted:
                yield tuple(map(_plain, row, kinds))


@dataclass(frozen=True)
class LedgerSide:
    """One ledger table: rows, batches and digests."""

    table: LedgerTable
    data: pa.Table
    batches: list[int]
    digests: list[bytes]

    def rows(self, places: Sequence[int]) -> list[PlainRow]:
        return from_arrow(self.table, self.data.take(pa.array(places, pa.int64())))


def ledger_side(table: LedgerTable, data: pa.Table) -> LedgerSide:
    """Raises ``pa.ArrowInvalid`` if values do not fit the table's columns."""
    data.validate(full=True)
    if data.num_rows <= _AT_ONCE:
        data = data.combine_chunks()  # of many small files: each chunk costs as much as many rows
    digests: list[bytes] = []
    for part in data.to_batches(max_chunksize=_AT_ONCE):
        digests += row_digests(table, {name: part.column(name) for name in table.columns})
    return LedgerSide(table, data, data[BATCH].to_pylist(), digests)


def _parts(tx: Transaction, table: LedgerTable, where: ColumnElement[bool]) -> Iterator[Rows]:
    """Columns without their Python types, whose conversion would dominate the cost."""
    bare = (type_coerce(table.source.columns[name], _BARE) for name in table.columns)
    asked = select(*bare).where(where).execution_options(yield_per=_AT_ONCE)
    yield from tx.execute(asked).partitions()


def _digests(table: LedgerTable, rows: Rows) -> list[bytes]:
    schema = arrow_schema(table)
    try:
        columns = {
            name: _array(values, table.kind_of(name), schema.field(name).type)
            for name, values in zip(table.columns, zip(*rows, strict=True), strict=True)
        }
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        kinds = [table.kind_of(name) for name in table.columns]
        return _odd_digests(table, [tuple(map(_plain, row, kinds)) for row in rows])
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


# Vectorised digests: outbox payloads are rebuilt column by column.

_CONTROL = bytes(range(0x20))


def row_digests(table: LedgerTable, columns: Mapping[str, pa.Array]) -> list[bytes]:
    """Digests per row; columns as in ``relay.rows.arrow_schema``, timestamps also as text."""
    sha256 = hashlib.sha256
    texts = _row_texts(table, columns).cast(pa.binary()).to_pylist()
    return [sha256(text).digest() for text in texts]


def _odd_digests(table: LedgerTable, rows: Sequence[PlainRow]) -> list[bytes]:
    """Digests of rows with values that do not fit their columns."""
    make = payload_maker(table)
    return [row_digest(table.name, _payload(make, row)) for row in rows]


def _payload(make: Callable[[PlainRow], str], row: PlainRow) -> str:
    try:
        return make(row)
    except (TypeError, ValueError):
        return repr(row)


def _row_texts(table: LedgerTable, columns: Mapping[str, pa.Array]) -> pa.Array:
    named = [_member(name, table.kind_of(name), columns[name]) for name in sorted(table.columns)]
    members = pc.binary_join_element_wise(*named, ",", null_handling="skip")
    return pc.binary_join_element_wise(f"{table.name}\n{{", members, "}", "")


def _member(name: str, kind: str, values: pa.Array) -> pa.Array:
    """``"name":value`` as JSON, or null."""
    if kind in ("number", "flag"):
        return _around(f'"{name}":', values.cast(pa.string()), "")
    if kind == "time" and pa.types.is_timestamp(values.type):
        moment = pc.cast(values.cast(pa.timestamp("us")), pa.string())
        return _around(f'"{name}":"', pc.replace_substring(moment, " ", "T"), 'Z"')
    return _around(f'"{name}":"', _escaped(values), '"')


def _around(before: str, values: pa.Array, after: str) -> pa.Array:
    return pc.binary_join_element_wise(before, values, after, "")


def _escaped(values: pa.Array) -> pa.Array:
    held = _held(values)
    if len(held.translate(None, _CONTROL)) != len(held):
        return pa.array([None if v is None else encode_basestring(v)[1:-1] for v in _list(values)])
    if b"\\" in held:
        values = pc.replace_substring(values, "\\", "\\\\")
    return pc.replace_substring(values, '"', '\\"') if b'"' in held else values


def _held(values: pa.Array) -> bytes:
    """The bytes of all strings, concatenated."""
    _, offsets, content = values.buffers()
    if content is None:
        return b""
    ends = memoryview(offsets).cast("i")
    return bytes(memoryview(content)[ends[values.offset] : ends[values.offset + len(values)]])


def _list(values: pa.Array) -> list[Any]:
    listed: list[Any] = values.to_pylist()
    return listed
