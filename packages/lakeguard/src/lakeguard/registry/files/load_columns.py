"""Checks the columns that a load names: declared, of a usable type, not written by the load."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.files.loads import At, LoadContext
from lakeguard.registry.text.characters import look_alike
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    DefinitionError,
    ReservedColumn,
    UnknownColumn,
    WrongValue,
)
from lakeguard_sdk.model.load import Load, load_columns
from lakeguard_sdk.types.schema import (
    FLOATS,
    TIMES,
    TableSchema,
    is_numeric,
)

LISTS = ("keys", "order_by", "partition_by")
SINGLE = ("watermark", "effective")


def column_errors(context: LoadContext, at: At) -> Iterator[DefinitionError]:
    """Every column that the load names but cannot use."""
    declared = context.declared
    if declared is None:
        return
    for path, name in named_columns(context.load):
        data_type = declared.type_of(name)
        if data_type is None:
            hint = did_you_mean(name, declared.names)
            fields = {"dataset": context.dataset, "column": name[:255], "hint": hint}
            yield UnknownColumn(at(path), at=list(path), **fields)
            continue
        problem = _type_problem(str(path[1]), name, data_type)
        if problem is not None:
            yield WrongValue(at(path), key=path[1], problem=problem, hint="", at=list(path))
    for field in LISTS:
        names = getattr(context.load, field)
        if len(set(names)) < len(names):
            path = ("load", field)
            problem = "duplicate column"
            yield WrongValue(at(path), key=field, problem=problem, hint="", at=list(path))
    yield from _operation_errors(context.load, declared, at)
    yield from _taken(context.load, declared, at)


def named_columns(load: Load) -> Iterator[tuple[Path, str]]:
    """Every column that must be declared, with its path in the load."""
    for field in LISTS:
        for index, name in enumerate(getattr(load, field)):
            yield ("load", field, index), name
    for field in SINGLE:
        if getattr(load, field):
            yield ("load", field), getattr(load, field)


def _type_problem(field: str, name: str, data_type: str) -> str | None:
    if field == "watermark":
        ordered = data_type in (*TIMES, "string") or is_numeric(data_type)
        return (
            None if ordered else f"{name} is {data_type}; use a date, timestamp, number or string"
        )
    if field == "effective":
        holds = data_type in ("timestamp", "date")
        return None if holds else f"{name} is {data_type}; use a timestamp or a date"
    if "<" in data_type:
        return f"{name} is {data_type}; use columns of simple types"
    if field == "keys" and data_type in FLOATS:
        return f"{name} is {data_type}, which is not exact and cannot be a key"
    return None


def _operation_errors(load: Load, declared: TableSchema, at: At) -> Iterator[DefinitionError]:
    """The column may exist in the batch only; then it is read as a string."""
    name, path = load.operation, ("load", "operation")
    if not name:
        return
    data_type = declared.type_of(name)
    problem = None
    if data_type not in (None, "string"):
        problem = f"{name} is {data_type}; use a string"
    elif data_type is None:
        twins = [each for each in declared.names if look_alike(each) == look_alike(name)]
        problem = f"{name!r} and {twins[0]!r} are easily confused" if twins else None
    if problem is not None:
        yield WrongValue(at(path), key="operation", problem=problem, hint="", at=list(path))


def _taken(load: Load, declared: TableSchema, at: At) -> Iterator[DefinitionError]:
    written = {look_alike(column.name) for column in load_columns(load)}
    if not written:
        return
    for name in declared.names:
        if look_alike(name) in written:
            path: Path = ("columns", name)
            yield ReservedColumn(at(path), column=name, hint="", at=list(path))
    operation = load.operation
    if operation not in declared.names and look_alike(operation) in written:
        path = ("load", "operation")
        yield ReservedColumn(at(path), column=operation, hint="", at=list(path))
