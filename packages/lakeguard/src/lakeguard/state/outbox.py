"""The outbox: a fact and its outbox row are written in one transaction.

The outbox row holds the fact's values as JSON without nulls, so a column added later does not
change rows already published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from itertools import groupby
from json.encoder import encode_basestring
from typing import Any

from sqlalchemy import Table, insert

from lakeguard.state.bulk_writes import (
    FEW_ROWS,
    NumberedUpdate,
    insert_all,
    insert_into,
    shared_values,
    update_numbered,
    write_together,
)
from lakeguard.state.tables.metadata import MUTABLE_COLUMNS, UtcTime
from lakeguard.state.tables.relay import outbox
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant

Row = Mapping[str, Any]
Fact = tuple[Table, Sequence[Row]]


def record(tx: Transaction, table: Table, rows: Sequence[Row], at: datetime) -> None:
    """Insert rows into a fact table and enqueue them for the ledger, in this transaction."""
    if not rows:
        return
    numbered = table.autoincrement_column
    if numbered is not None and numbered.name not in rows[0]:
        statement = insert(table).returning(numbered)
        rows = [{**row, numbered.name: tx.scalar(statement, row)} for row in rows]
    else:
        insert_all(tx, table, rows)
    enqueue(tx, table, rows, at)


def record_once(tx: Transaction, table: Table, row: Row, at: datetime) -> bool:
    """Insert a row unless it exists; return whether it was inserted."""
    new = insert_into(tx, table).values(**row).on_conflict_do_nothing()
    if tx.execute(new.returning(*table.primary_key)).first() is None:
        return False
    enqueue(tx, table, [row], at)
    return True


def record_with_update(
    tx: Transaction, update: NumberedUpdate, facts: Sequence[Fact], at: datetime
) -> bool:
    """Update rows and record what happened to them. False if another transaction changed one of
    the rows: the caller must roll back.

    A few rows are written by one statement on PostgreSQL.
    """
    known = [(table, rows) for table, rows in facts if rows]
    if tx.dialect.name == "postgresql" and len(update.rows) < FEW_ROWS:
        if any(table.autoincrement_column is not None for table, _ in known):
            raise ValueError("a numbered table needs record()")
        queued = [row for table, rows in known for row in _queued(table, rows, at)]
        return write_together(tx, update, [*known, (outbox, queued)]) == len(update.rows)
    if update_numbered(tx, update) != len(update.rows):
        return False
    for table, rows in known:
        record(tx, table, rows, at)
    return True


def enqueue(tx: Transaction, table: Table, rows: Sequence[Row], at: datetime) -> None:
    """Enqueue rows for the relay."""
    insert_all(tx, outbox, _queued(table, rows, at))


def _queued(table: Table, rows: Sequence[Row], at: datetime) -> list[Row]:
    topic = str(table.name)
    return [
        {"org_id": row["org_id"], "topic": topic, "payload": payload, "created_at": at}
        for row, payload in zip(rows, payloads(rows, immutable_columns(table)), strict=True)
    ]


@cache
def immutable_columns(table: Table) -> tuple[str, ...]:
    """The immutable columns of a table, which the lake ledger stores."""
    mutable = MUTABLE_COLUMNS.get(table.name, ())
    return tuple(sorted(c.name for c in table.columns if c.name not in mutable))


def payloads(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """The JSON of each row; shared values are encoded once."""
    if not rows:
        return []
    shared, plan = shared_values(rows, columns), list[tuple[str, str]]()
    for alike, names in groupby(columns, shared.__contains__):
        if alike:
            members = [_member(name, shared[name]) for name in names if shared[name] is not None]
            plan += [("", ",".join(members))] if members else []
        else:
            plan += [(name, "") for name in names]
    return [_object(row, plan) for row in rows]


def _object(row: Row, plan: Sequence[tuple[str, str]]) -> str:
    """Fill a row's values into a plan of encoded and open members."""
    members = [
        known or _member(name, row[name]) for name, known in plan if known or row[name] is not None
    ]
    return f"{{{','.join(members)}}}"


def _member(name: str, value: Any) -> str:
    return f'"{name}":{_text(value)}'


def _text(value: Any) -> str:
    """Encode a value as JSON. On the hot path: called for every value of every row."""
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is int:
        return str(value)
    return _time(value) if isinstance(value, datetime) else _encode(value)


@lru_cache(maxsize=1_000)
def _time(value: datetime) -> str:
    """Cached: rows written together mostly share one timestamp."""
    return f'"{format_instant(value)}"'


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


# The same in a function of PostgreSQL.


def recorded(facts: Mapping[Table, Mapping[str, str]], at: str) -> str:
    """Statements that insert a row of SQL expressions into each table, and their rows of the
    outbox."""
    inserted = [
        f"INSERT INTO {table.name} ({_names(values)}) VALUES ({', '.join(values.values())});"  # noqa: S608
        for table, values in facts.items()
    ]
    queued = [
        f"({values['org_id']}, '{table.name}', {_payload(table, values)}, {at})"
        for table, values in facts.items()
    ]
    into = "INSERT INTO outbox (org_id, topic, payload, created_at)"
    return "\n        ".join([*inserted, f"{into} VALUES {', '.join(queued)};"])


def _names(values: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}"' for name in values)


def _payload(table: Table, values: Mapping[str, str]) -> str:
    members = (
        f"""'"{name}":' || {_json(table, name, values[name])}"""
        for name in immutable_columns(table)
        if name in values
    )
    return f"'{{' || concat_ws(',', {', '.join(members)}) || '}}'"


def _json(table: Table, name: str, value: str) -> str:
    """As ``payloads`` writes it; NULL, which drops the member, for NULL."""
    if isinstance(table.c[name].type, UtcTime):
        value = f"""to_char({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    return f"to_json({value})::text"
