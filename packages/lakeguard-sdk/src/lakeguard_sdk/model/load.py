"""Load types: how a batch is loaded into a table, and the columns that the load adds.

FULL         the batch is the table
APPEND       the batch is added; with keys, only rows whose key is new
PARTITION    the batch replaces the partitions that it contains
INCREMENTAL  rows are inserted, or updated where they differ, by key
SNAPSHOT     as INCREMENTAL, and keys that the batch lacks are deleted
CDC          each row is an insert, update or delete of its key; the last in order wins
SCD2         every state of a key is retained with its validity period
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, ValidationInfo

from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.types.schema import Column

ROW_HASH = "row_hash"
KEY_HASH = "key_hash"
VALID_FROM = "valid_from"
VALID_TO = "valid_to"
IS_CURRENT = "is_current"
IS_DELETED = "is_deleted"
DELETED_AT = "deleted_at"

KEYED_LOADS = frozenset({LoadType.INCREMENTAL, LoadType.SNAPSHOT, LoadType.CDC, LoadType.SCD2})
"""Loads that require business keys."""

NEW_ROWS_ONLY = frozenset(
    {LoadType.APPEND, LoadType.PARTITION, LoadType.INCREMENTAL, LoadType.CDC, LoadType.SCD2}
)
"""Loads that continue reading a source where the base version stopped; others read all of it."""

GAINED_ROWS_ONLY = NEW_ROWS_ONLY - {LoadType.PARTITION}
"""Loads that read only rows added to their first parent since the last version read."""

_LAG = re.compile(r"([0-9]{1,9})(?:\s+(second|minute|hour|day)s?)?")


class Load(FrozenModel):
    """How a batch is loaded into the table."""

    type: LoadType
    keys: tuple[str, ...] = ()
    hash: HashStrategy = HashStrategy.NONE
    watermark: str = ""
    """Column for incremental reads: rows above its highest value so far are read."""
    lag: str = ""
    """Overlap below the watermark that is read again: ``2 days``, or a number for numbers."""
    inclusive: bool = False
    """Whether rows exactly at the watermark are read again."""
    null_watermark: NullWatermark = NullWatermark.REFUSE
    late: LateRows = LateRows.LOAD
    order_by: tuple[str, ...] = ()
    """Among rows of one key the last in this order wins, also against older rows of the table."""
    operation: str = ""
    """CDC, SCD2: the column with insert, update or delete; in the table only if declared."""
    effective: str = ""
    """SCD2: the column with the start of a row's validity; default is the task's time."""
    deletes: Deletes = Deletes.HARD
    allow_empty: bool = False
    """Whether an empty SNAPSHOT may delete every row."""
    skip_unchanged: bool = False
    """Whether a run ends without a version if source, inputs and code are unchanged."""
    partition_by: tuple[str, ...] = ()


def _load(value: Any, info: ValidationInfo) -> Any:
    """A type alone is a load of that type. JSON is validated here: a strict model refuses the lists
    that a validator returns for its tuples."""
    given = {"type": value} if isinstance(value, str) else value
    if info.mode != "json" or not isinstance(given, dict):
        return given
    try:
        return Load.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None


LoadField = Annotated[Load, BeforeValidator(_load)]


def load_columns(load: Load) -> tuple[Column, ...]:
    """The columns written by the load, after the declared ones."""
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


def load_column_sources(load: Load, declared: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The declared columns that each column written by the load is made of, if there are any.

    A hash is made through SHA-256; the others show the values themselves.
    """
    names = tuple(declared)
    found: dict[str, tuple[str, ...]] = {}
    if load.hash is HashStrategy.KEY_HASH:
        found[KEY_HASH] = tuple(name for name in names if name in load.keys)
    if load.hash is HashStrategy.ROW_HASH:
        found[ROW_HASH] = hashed_names(load, names)
    if load.type is LoadType.SCD2 and load.effective:
        found |= {VALID_FROM: (load.effective,), VALID_TO: (load.effective,)}
    return found


def hashed_names(load: Load, declared: Iterable[str]) -> tuple[str, ...]:
    """Columns that the row hash covers: all but the keys and, for SCD2, the effective one."""
    apart = {*load.keys, load.effective} if load.type is LoadType.SCD2 else {*load.keys}
    return tuple(name for name in declared if name not in apart)


def batch_columns(load: Load, declared: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a batch: the declared ones, and the operation if it is not declared."""
    if not load.operation or load.operation in (column.name for column in declared):
        return declared
    return (*declared, Column(name=load.operation, type="string"))


def parse_lag(text: str) -> timedelta | int:
    """A timedelta for ``2 days``, an integer for ``100``, 0 if empty; else raises ValueError."""
    if not text:
        return 0
    match = _LAG.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"invalid lag {text!r}: write 2 days, 30 minutes, or an integer")
    number, unit = int(match[1]), match[2]
    return timedelta(**{f"{unit}s": number}) if unit else number
