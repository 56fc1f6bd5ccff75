"""The columns that a load names: there, of a type that serves, and none that it writes itself."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.characters import look_alike
from lakeguard.registry.locating import Locate
from lakeguard.registry.nodes import Path
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.definition_errors import (
    DefinitionError,
    TakenColumn,
    UnknownColumn,
    WrongValue,
)
from lakeguard_sdk.load import Load, load_columns
from lakeguard_sdk.schema import FLOATS, is_numeric
from lakeguard_sdk.spelling import did_you_mean

LISTS = ("keys", "order_by", "partition_by")
SINGLE = ("watermark", "effective")
_TIMES = ("date", "timestamp", "timestamp_ntz")


def column_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Every column that the load names and cannot use."""
    declared = dataset.declared
    for at, name in named_columns(dataset.load):
        data_type = declared.type_of(name)
        if data_type is None:
            hint = did_you_mean(name, declared.names)
            said = {"dataset": dataset.dataset, "column": name[:255], "hint": hint}
            yield UnknownColumn(locate(dataset, at), at=list(at), **said)
            continue
        problem = _type_problem(str(at[1]), name, data_type)
        if problem is not None:
            place = locate(dataset, at)
            yield WrongValue(place, key=at[1], problem=problem, hint="", at=list(at))
    for field in LISTS:
        names = getattr(dataset.load, field)
        if len(set(names)) < len(names):
            at = ("load", field)
            problem = "a column stands twice"
            yield WrongValue(locate(dataset, at), key=field, problem=problem, hint="", at=list(at))
    yield from _operation_errors(dataset, locate)
    yield from _taken(dataset, locate)


def named_columns(load: Load) -> Iterator[tuple[Path, str]]:
    """Every column that must be declared, and where the load names it."""
    for field in LISTS:
        for index, name in enumerate(getattr(load, field)):
            yield ("load", field, index), name
    for field in SINGLE:
        if getattr(load, field):
            yield ("load", field), getattr(load, field)


def _type_problem(field: str, name: str, data_type: str) -> str | None:
    if field == "watermark":
        ordered = data_type in (*_TIMES, "string") or is_numeric(data_type)
        return None if ordered else f"{name} is {data_type}, and not a time, a number or a text"
    if field == "effective":
        holds = data_type in ("timestamp", "date")
        return None if holds else f"{name} is {data_type}, and not a timestamp or a date"
    if "<" in data_type:
        return f"{name} is {data_type}; name columns of single values"
    if field == "keys" and data_type in FLOATS:
        return f"{name} is {data_type}, which is not exact; a key is found again by its value"
    return None


def _operation_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """It may be a column of the batch alone, and is read as text then."""
    name, at = dataset.load.operation, ("load", "operation")
    if not name:
        return
    data_type = dataset.declared.type_of(name)
    problem = None
    if data_type not in (None, "string"):
        problem = f"{name} is {data_type}, and not a string"
    elif data_type is None:
        twins = [each for each in dataset.declared.names if look_alike(each) == look_alike(name)]
        problem = f"{name!r} and {twins[0]!r} are one name to many readers" if twins else None
    if problem is not None:
        place = locate(dataset, at)
        yield WrongValue(place, key="operation", problem=problem, hint="", at=list(at))


def _taken(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    written = {look_alike(column.name) for column in load_columns(dataset.load)}
    if not written:
        return
    for name in dataset.declared.names:
        if look_alike(name) in written:
            at: Path = ("columns", name)
            yield TakenColumn(locate(dataset, at), column=name, hint="", at=list(at))
    operation = dataset.load.operation
    if operation not in dataset.declared.names and look_alike(operation) in written:
        at = ("load", "operation")
        yield TakenColumn(locate(dataset, at), column=operation, hint="", at=list(at))
