"""Digests of many rows at once: what was told of each, made again column by column.

``relay.rows.payload_maker`` and ``relay.chain.row_digest`` say it for one row; this says the same
for a hundred thousand in the time of a few.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeguard.relay.catalogue import LedgerTable
from lakeguard.relay.chain import row_digest
from lakeguard.relay.rows import PlainRow, payload_maker

_CONTROL = bytes(range(0x20))


def row_digests(table: LedgerTable, columns: Mapping[str, pa.Array]) -> list[bytes]:
    """Of each row; the columns are as ``relay.rows.arrow_schema`` has them, times also as text."""
    sha256 = hashlib.sha256
    told = _told(table, columns).cast(pa.binary()).to_pylist()
    return [sha256(text).digest() for text in told]


def odd_digests(table: LedgerTable, rows: Sequence[PlainRow]) -> list[bytes]:
    """Of rows with values that their columns cannot hold."""
    make = payload_maker(table)
    return [row_digest(table.name, _payload(make, row)) for row in rows]


def _payload(make: Callable[[PlainRow], str], row: PlainRow) -> str:
    try:
        return make(row)
    except (TypeError, ValueError):
        return repr(row)


def _told(table: LedgerTable, columns: Mapping[str, pa.Array]) -> pa.Array:
    named = [_member(name, table.kind_of(name), columns[name]) for name in sorted(table.columns)]
    members = pc.binary_join_element_wise(*named, ",", null_handling="skip")
    return pc.binary_join_element_wise(f"{table.name}\n{{", members, "}", "")


def _member(name: str, kind: str, values: pa.Array) -> pa.Array:
    """``"name":value`` as JSON; null where there is none."""
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
    """The bytes of all texts, one after the other."""
    _, offsets, content = values.buffers()
    if content is None:
        return b""
    ends = memoryview(offsets).cast("i")
    return bytes(memoryview(content)[ends[values.offset] : ends[values.offset + len(values)]])


def _list(values: pa.Array) -> list[Any]:
    listed: list[Any] = values.to_pylist()
    return listed
