"""Checks a load on its own: required settings present, no setting without effect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from lakeguard.registry.files.load_columns import column_errors
from lakeguard.registry.files.loads import At, LoadContext
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.errors import DefinitionError, DuplicatedRows, WrongValue
from lakeguard_sdk.model.load import KEYED_LOADS, Load, parse_lag
from lakeguard_sdk.types.schema import is_numeric

Problem = tuple[str, str]
"""A field of the load and its error message."""

_ONLY_OF: dict[str, tuple[LoadType, ...]] = {
    "operation": (LoadType.CDC, LoadType.SCD2),
    "effective": (LoadType.SCD2,),
    "allow_empty": (LoadType.SNAPSHOT,),
    "deletes": (LoadType.SNAPSHOT, LoadType.CDC),
}
"""Fields that apply to these load types only."""

_DAY = timedelta(days=1)


def load_errors(context: LoadContext, at: At) -> Iterator[DefinitionError]:
    """Every error of a dataset's load that is visible in the dataset itself."""
    yield from column_errors(context, at)
    found = [*_needs(context), *_without_effect(context), *_lag_problems(context)]
    for field, problem in found:
        path = ("load", field)
        key = "load" if field == "type" else field
        yield WrongValue(at(path), key=key, problem=problem, hint="", at=list(path))
    for field in _read_again(context):
        path = ("load", field)
        problem = "without keys APPEND would duplicate rows that are read again; set keys"
        yield DuplicatedRows(at(path), key=field, problem=problem, at=list(path))


def _needs(context: LoadContext) -> Iterator[Problem]:
    load = context.load
    if load.type in KEYED_LOADS and not context.has("keys"):
        yield "type", f"{load.type} needs keys, the columns that identify a row"
    if load.type is LoadType.CDC and not context.has("operation"):
        yield "type", "CDC needs operation, the column with insert, update or delete"
    if load.type is LoadType.CDC and not context.has("order_by"):
        yield "type", "CDC needs order_by, the columns that order changes of a key"
    partitioned = context.has("partition_by") or context.has_target
    if load.type is LoadType.PARTITION and not partitioned:
        yield "type", "PARTITION needs partition_by, the columns whose values it replaces"
    if context.has("keys"):
        return
    if load.hash is HashStrategy.KEY_HASH:
        yield "hash", "KEY_HASH needs keys, the columns that are hashed"
    if load.order_by:
        yield "order_by", "order_by needs keys"


def _without_effect(context: LoadContext) -> Iterator[Problem]:
    """Settings without effect."""
    load = context.load
    is_set = {
        "operation": bool(load.operation),
        "effective": bool(load.effective),
        "allow_empty": load.allow_empty,
        "deletes": load.deletes is Deletes.SOFT,
    }
    for field, types in _ONLY_OF.items():
        if is_set[field] and load.type not in types:
            word = "deletes: soft" if field == "deletes" else field
            yield field, f"{word} applies to {' and '.join(types)} only, not to {load.type}"
    if context.has("watermark"):
        return
    for field in ("lag", *_about_watermarks(load)):
        if getattr(load, field):
            yield field, "has no effect without a watermark"


def _about_watermarks(load: Load) -> Iterator[str]:
    if load.inclusive:
        yield "inclusive"
    if load.null_watermark is not NullWatermark.REFUSE:
        yield "null_watermark"
    if load.late is not LateRows.LOAD:
        yield "late"


def _lag_problems(context: LoadContext) -> Iterator[Problem]:
    load = context.load
    try:
        lag = parse_lag(load.lag)
    except (ValueError, OverflowError) as error:
        yield "lag", str(error)
        return
    data_type = context.type_of(load.watermark)
    if not load.lag or data_type is None:
        return
    if data_type == "string":
        yield "lag", f"{load.watermark} is a string, which has no lag"
    elif is_numeric(data_type) and isinstance(lag, timedelta):
        yield "lag", f"{load.watermark} is a number; write a whole number, such as 100"
    elif not is_numeric(data_type) and isinstance(lag, int):
        yield "lag", f"{load.watermark} is a {data_type}; write a duration, such as 2 days"
    elif data_type == "date" and isinstance(lag, timedelta) and lag % _DAY:
        yield "lag", f"{load.watermark} is a date; write whole days, such as 2 days"


def _read_again(context: LoadContext) -> Iterator[str]:
    """Settings that re-read rows, for a load that cannot deduplicate them."""
    load = context.load
    if load.type is not LoadType.APPEND or context.has("keys"):
        return
    if load.inclusive:
        yield "inclusive"
    if load.lag:
        yield "lag"
    if load.null_watermark is NullWatermark.LOAD:
        yield "null_watermark"
