"""What must hold of a load by itself: its type needs what it needs, and has a use for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lakeguard.registry.files.load_columns import column_errors
from lakeguard.registry.files.loads import At, LoadSaid
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.errors import DefinitionError, DoubledRows, WrongValue
from lakeguard_sdk.model.load import KEYED_LOADS, Load, parse_lag
from lakeguard_sdk.types.schema import is_numeric

Problem = tuple[str, str]
"""A field of the load, and what is wrong with it."""

_ONLY_OF: dict[str, tuple[LoadType, ...]] = {
    "operation": (LoadType.CDC, LoadType.SCD2),
    "effective": (LoadType.SCD2,),
    "allow_empty": (LoadType.SNAPSHOT,),
    "deletes": (LoadType.SNAPSHOT, LoadType.CDC),
}
"""Fields that mean something to these loads alone."""

_DAY = timedelta(days=1)


def load_errors(said: LoadSaid, at: At) -> Iterator[DefinitionError]:
    """Everything that is wrong with a dataset's load, as far as the dataset shows it."""
    yield from column_errors(said, at)
    found = [*_needs(said), *_no_use(said), *_lag_problems(said)]
    for field, problem in found:
        path = ("load", field)
        key = "load" if field == "type" else field
        yield WrongValue(at(path), key=key, problem=problem, hint="", at=list(path))
    for field in _read_again(said):
        path = ("load", field)
        problem = "without keys APPEND adds what it reads again; name the keys"
        yield DoubledRows(at(path), key=field, problem=problem, at=list(path))


def _needs(said: LoadSaid) -> Iterator[Problem]:
    load = said.load
    if load.type in KEYED_LOADS and not said.says("keys"):
        yield "type", f"{load.type} needs keys, the columns that tell its rows apart"
    if load.type is LoadType.CDC and not said.says("operation"):
        yield "type", "CDC needs operation, the column that says insert, update or delete"
    if load.type is LoadType.CDC and not said.says("order_by"):
        yield "type", "CDC needs order_by, the columns that say which change is the last"
    partitioned = said.says("partition_by") or said.has_target
    if load.type is LoadType.PARTITION and not partitioned:
        yield "type", "PARTITION needs partition_by, the columns whose values it replaces"
    if said.says("keys"):
        return
    if load.hash is HashStrategy.KEY_HASH:
        yield "hash", "KEY_HASH needs keys, the columns that are hashed"
    if load.order_by:
        yield "order_by", "it says which row of a key counts, and there are no keys"


def _no_use(said: LoadSaid) -> Iterator[Problem]:
    """What is said and would change nothing."""
    load = said.load
    meant = {
        "operation": bool(load.operation),
        "effective": bool(load.effective),
        "allow_empty": load.allow_empty,
        "deletes": load.deletes is Deletes.SOFT,
    }
    for field, types in _ONLY_OF.items():
        if meant[field] and load.type not in types:
            word = "deletes: soft" if field == "deletes" else field
            yield field, f"{word} is for {' and '.join(types)}, and this is {load.type}"
    if said.says("watermark"):
        return
    for field in ("lag", *_about_watermarks(load)):
        if getattr(load, field):
            yield field, "there is no watermark that it could be about"


def _about_watermarks(load: Load) -> Iterator[str]:
    if load.inclusive:
        yield "inclusive"
    if load.null_watermark is not NullWatermark.REFUSE:
        yield "null_watermark"
    if load.late is not LateRows.LOAD:
        yield "late"


def _lag_problems(said: LoadSaid) -> Iterator[Problem]:
    load = said.load
    try:
        lag = parse_lag(load.lag)
    except (ValueError, OverflowError) as error:
        yield "lag", str(error)
        return
    data_type = said.type_of(load.watermark)
    if not load.lag or data_type is None:
        return
    if data_type == "string":
        yield "lag", f"{load.watermark} is text, which has nothing before it to read again"
    elif is_numeric(data_type) and isinstance(lag, timedelta):
        yield "lag", f"{load.watermark} is a number; write a whole number, such as 100"
    elif not is_numeric(data_type) and isinstance(lag, int):
        yield "lag", f"{load.watermark} is a {data_type}; write a time, such as 2 days"
    elif data_type == "date" and isinstance(lag, timedelta) and lag % _DAY:
        yield "lag", f"{load.watermark} is a date; write whole days, such as 2 days"


def _read_again(said: LoadSaid) -> Iterator[str]:
    """What would bring rows a second time to a load that cannot know them again."""
    load = said.load
    if load.type is not LoadType.APPEND or said.says("keys"):
        return
    if load.inclusive:
        yield "inclusive"
    if load.lag:
        yield "lag"
    if load.null_watermark is NullWatermark.LOAD:
        yield "null_watermark"
