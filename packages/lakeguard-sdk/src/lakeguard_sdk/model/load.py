"""Loads: how a batch becomes part of a table, and the columns that doing so adds.

FULL         the batch is the table
APPEND       the batch is added; with keys, only rows whose key is new
PARTITION    the batch replaces the partitions that it has rows of
INCREMENTAL  rows are inserted, or updated where they differ, by key
SNAPSHOT     as INCREMENTAL, and keys that the batch lacks are deleted
CDC          each row says what happened to its key; the last in order counts
SCD2         every state of a key is kept, with the time from which and to which it held
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator

from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.types.schema import Column

ROW_HASH = "row_hash"
KEY_HASH = "key_hash"
VALID_FROM = "valid_from"
VALID_TO = "valid_to"
IS_CURRENT = "is_current"
IS_DELETED = "is_deleted"
DELETED_AT = "deleted_at"

KEYED_LOADS = frozenset({LoadType.INCREMENTAL, LoadType.SNAPSHOT, LoadType.CDC, LoadType.SCD2})
"""Loads that cannot be without business keys."""

NEW_ROWS_ONLY = frozenset(
    {LoadType.APPEND, LoadType.PARTITION, LoadType.INCREMENTAL, LoadType.CDC, LoadType.SCD2}
)
"""Loads that read a source from where the base version stopped; the others read all of it."""

GAINED_ROWS_ONLY = NEW_ROWS_ONLY - {LoadType.PARTITION}
"""Loads that read only what their first parent gained since the version that was read last."""

_LAG = re.compile(r"([0-9]{1,9})(?:\s+(second|minute|hour|day)s?)?")


class Load(Noun):
    """How a batch becomes part of the table."""

    type: LoadType
    keys: tuple[str, ...] = ()
    hash: HashStrategy = HashStrategy.NONE
    watermark: str = ""
    """The column by which a source is read from where the last version stopped."""
    lag: str = ""
    """How far below the watermark is read again: ``2 days``, or a number for a numeric column."""
    inclusive: bool = False
    """Whether rows exactly at the watermark are read again."""
    null_watermark: NullWatermark = NullWatermark.REFUSE
    late: LateRows = LateRows.LOAD
    order_by: tuple[str, ...] = ()
    """Of several rows of one key, the last in this order counts; it also beats an older update."""
    operation: str = ""
    """CDC, SCD2: the column that says insert, update or delete; in the table only if declared."""
    effective: str = ""
    """SCD2: the column with the time from which a row holds; else the time of the task."""
    deletes: Deletes = Deletes.HARD
    allow_empty: bool = False
    """Whether an empty SNAPSHOT may delete every row."""
    skip_unchanged: bool = False
    """Whether a run ends without a version where source, inputs and code are as they were."""
    partition_by: tuple[str, ...] = ()


def _load(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


LoadField = Annotated[Load, BeforeValidator(_load)]


def load_columns(load: Load) -> tuple[Column, ...]:
    """The columns that the load itself writes, after those that the dataset declares."""
    added: list[tuple[str, str]] = []
    if load.hash is HashStrategy.KEY_HASH:
        added.append((KEY_HASH, "string"))
    if load.hash is HashStrategy.ROW_HASH:
        added.append((ROW_HASH, "string"))
    if load.type is LoadType.SCD2:
        added += [(VALID_FROM, "timestamp"), (VALID_TO, "timestamp"), (IS_CURRENT, "boolean")]
    elif load.deletes is Deletes.SOFT:
        added += [(IS_DELETED, "boolean"), (DELETED_AT, "timestamp")]
    return tuple(Column(name=name, type=data_type) for name, data_type in added)


def batch_columns(load: Load, declared: tuple[Column, ...]) -> tuple[Column, ...]:
    """What a batch must bring: the declared columns, and the operation where it is not one."""
    if not load.operation or load.operation in (column.name for column in declared):
        return declared
    return (*declared, Column(name=load.operation, type="string"))


def parse_lag(text: str) -> timedelta | int:
    """A time for ``2 days``, an integer for ``100``, zero for nothing; else ValueError."""
    if not text:
        return 0
    match = _LAG.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no lag: write 2 days, 30 minutes, or a whole number")
    number, unit = int(match[1]), match[2]
    return timedelta(**{f"{unit}s": number}) if unit else number
