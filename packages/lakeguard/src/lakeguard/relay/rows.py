"""Rows in plain form: strings, integers, booleans, nulls; timestamps as strings. A row is the
same tuple whether it comes from the outbox, the State or the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json
from sqlalchemy import ColumnElement, select, type_coerce
from sqlalchemy.types import NullType

from lakeguard.relay.tables import BATCH, ORDINAL, LedgerTable
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant

PlainRow = tuple[Any, ...]

_BLOCK = 1 << 22

_ARROW = {
    "time": pa.timestamp("us", "UTC"),
    "flag": pa.bool_(),
    "number": pa.int64(),
    "text": pa.string(),
}


def arrow_schema(table: LedgerTable) -> pa.Schema:
    """The ledger's columns, followed by batch and position."""
    fields = [(name, _ARROW[table.kind_of(name)]) for name in table.columns]
    return pa.schema([*fields, (BATCH, pa.int64()), (ORDINAL, pa.int64())])


def to_arrow(
    table: LedgerTable, payloads: Sequence[str], batch: int, ordinals: Sequence[int]
) -> pa.Table:
    """Outbox rows with batch and position as an Arrow table.

    Arrow parses the JSON; no Python values are created.
    """
    schema = arrow_schema(table)
    if not payloads:
        return schema.empty_table()
    lines = "\n".join(
        f'{payload[:-1]},"{BATCH}":{batch},"{ORDINAL}":{ordinal}}}'
        for payload, ordinal in zip(payloads, ordinals, strict=True)
    ).encode()
    longest = 4 * max(map(len, payloads)) + 1024
    return pa_json.read_json(
        pa.BufferReader(lines),
        read_options=pa_json.ReadOptions(block_size=max(_BLOCK, longest)),
        parse_options=pa_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="error"
        ),
    ).select(schema.names)


def from_arrow(table: LedgerTable, data: pa.Table) -> list[PlainRow]:
    """Rows in the order of ``data``, without the ledger's own columns."""
    columns = [_to_values(data[name], table.kind_of(name)) for name in table.columns]
    return list(zip(*columns, strict=True))


def payload_maker(table: LedgerTable) -> Callable[[PlainRow], str]:
    """The outbox payload of a row: columns by name, without nulls."""
    order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
    named = [(table.columns[index], index) for index in order]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

    def make(row: PlainRow) -> str:
        return encode({name: row[index] for name, index in named if row[index] is not None})

    return make


def state_rows(tx: Transaction, table: LedgerTable, where: ColumnElement[bool]) -> list[PlainRow]:
    """Current rows of the State."""
    asked = select(*(_bare(table, name) for name in table.columns)).where(where)
    fixes = [_FIXES.get(table.kind_of(name)) for name in table.columns]
    columns = list(zip(*tx.execute(asked), strict=True))
    return list(
        zip(
            *(
                values if fix is None else map(fix, values)
                for fix, values in zip(fixes, columns, strict=False)
            ),
            strict=True,
        )
    )


def _bare(table: LedgerTable, name: str) -> ColumnElement[Any]:
    """The column without its Python type, so that values are converted column by column."""
    return type_coerce(table.source.columns[name], _BARE)


def _plain_time(value: datetime | str | None) -> str | None:
    return format_instant(value) if isinstance(value, datetime) else value


def _plain_flag(value: bool | int | None) -> bool | None:
    return None if value is None else bool(value)


_BARE = NullType()
_FIXES: dict[str, Callable[[Any], Any]] = {"time": _plain_time, "flag": _plain_flag}


def _to_values(column: pa.ChunkedArray, kind: str) -> list[Any]:
    if kind == "time":
        text = pc.cast(column.cast(pa.timestamp("us")), pa.string())
        column = pc.binary_join_element_wise(pc.replace_substring(text, " ", "T"), "Z", "")
    values: list[Any] = column.to_pylist()
    return values
