"""Checks a dataset on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from lakeguard.registry.files.load_invariants import load_errors
from lakeguard.registry.files.loads import LoadContext
from lakeguard.registry.files.project_files import path_problem
from lakeguard.registry.graph import Parents, cycles
from lakeguard.registry.sql.sql_builds import (
    check_sql,
    combines_rows,
    sql_error,
    unread_parents,
)
from lakeguard.registry.text.characters import describe_character, look_alike
from lakeguard.registry.text.definition_positions import Locate, by_file
from lakeguard_sdk.core.canonical_json import is_sha256
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, LoadType
from lakeguard_sdk.errors import (
    BadSql,
    Cycle,
    DefinitionError,
    GoldParent,
    MissingKey,
    ParentAbove,
    WrongValue,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromPython,
    FromSource,
    FromSql,
    Pending,
)
from lakeguard_sdk.types.schema import field_names, field_paths

LONGEST_COLUMN = 255


def dataset_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Every error of a dataset on its own, except in its rules."""
    yield from _identity_errors(dataset, locate)
    yield from _parent_errors(dataset, locate)
    yield from _build_errors(dataset, locate)
    yield from _column_errors(dataset, locate)
    yield from load_errors(LoadContext.of(dataset), lambda path: locate(dataset, path))
    yield from _sql_errors(dataset, locate)
    yield from _python_errors(dataset, locate)


def cycle_errors(
    defined: Mapping[DatasetName, DatasetDefinition], others: Parents | None = None
) -> Iterator[DefinitionError]:
    """Each cycle once, reported at one of the ``defined`` datasets."""
    graph = {**(others or {}), **{name: item.parents for name, item in defined.items()}}
    for cycle in cycles(graph):
        for child, parent in pairwise(cycle):
            if child in defined:
                dataset = defined[child]
                at = ("parents", dataset.parents.index(parent))
                yield Cycle(by_file(dataset, at), path=" → ".join(cycle), at=at)
                break


def _identity_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    for key, value in (("owner", dataset.owner), ("domain", dataset.domain)):
        if not value.strip():
            yield MissingKey(locate(dataset, (key,)), key=key, at=[key])


def _parent_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    name = dataset.dataset
    for index, parent in enumerate(dataset.parents):
        at = ("parents", index)
        if parent in dataset.parents[:index]:
            yield WrongValue(
                locate(dataset, at), key="parents", problem=f"duplicate {parent}", hint="", at=at
            )
        elif parent.layer.height > name.layer.height:
            yield ParentAbove(locate(dataset, at), name=name, parent=parent, at=at)
        elif name.layer is Layer.GOLD and parent.layer is Layer.BRONZE:
            problem = f"gold cannot be built from {parent}; use a silver parent"
            yield GoldParent(locate(dataset, at), name=name, problem=problem, at=at)
    if isinstance(dataset.build, Pending):
        return
    if name.layer is Layer.GOLD and not any(p.layer is Layer.SILVER for p in dataset.parents):
        problem = "gold needs at least one silver parent"
        yield GoldParent(locate(dataset, ("parents",)), name=name, problem=problem, at=["parents"])


def _build_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    if not isinstance(dataset.build, FromSource):
        return
    name, place = dataset.dataset, locate(dataset, ("source",))
    if name.layer is Layer.GOLD:
        problem = "gold is built from silver, not from a source"
        yield GoldParent(place, name=name, problem=problem, at=["source"])
    elif name.layer is not Layer.BRONZE:
        problem = f"only bronze reads a source; {name.layer} is built from parents"
        yield WrongValue(place, key="source", problem=problem, hint="", at=["source"])
    if dataset.parents:
        yield WrongValue(
            locate(dataset, ("parents",)),
            key="parents",
            problem="a dataset with a source cannot have parents",
            hint="",
            at=["parents"],
        )


def _column_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    if not dataset.columns and not isinstance(dataset.build, Pending):
        yield MissingKey(locate(dataset, ("columns",)), key="columns", at=["columns"])
    seen: dict[str, str] = {}
    for column in dataset.columns:
        at = ["columns", column.name]
        problem = column_problem(column.name) or _field_problem(column)
        problem = problem or _twin_problem(column, seen)
        if problem is not None:
            place = locate(dataset, ("columns", column.name))
            yield WrongValue(place, key="columns", problem=problem, hint="", at=at)
    if len({column.name for column in dataset.columns}) < len(dataset.columns):
        place = locate(dataset, ("columns",))
        problem = "duplicate column"
        yield WrongValue(place, key="columns", problem=problem, hint="", at=["columns"])


def _twin_problem(column: ColumnDefinition, seen: dict[str, str]) -> str | None:
    """Statistics name a nested field ``column.field``, so no column may have such a name.

    ``seen`` holds the paths of earlier columns; this one's are added.
    """
    problem = None
    for path in field_paths(column.name, column.type):
        label = repr(path) if path == column.name else f"field {path!r}"
        twin = seen.get(look_alike(path))
        if twin is not None and not label == twin == repr(column.name):
            problem = problem or f"{label} and {twin} are easily confused"
        seen.setdefault(look_alike(path), label)
    return problem


def _field_problem(column: ColumnDefinition) -> str | None:
    """Names of nested fields follow the rules of column names."""
    problems = ((name, column_problem(name)) for name in field_names(column.type))
    return next((f"field {name!r}: {problem}" for name, problem in problems if problem), None)


def column_problem(name: str) -> str | None:
    """The problem of a column's name, or None."""
    if not name.strip() or name != name.strip():
        return "a column name must not be empty or begin or end with a space"
    if len(name) > LONGEST_COLUMN:
        return f"a column name has at most {LONGEST_COLUMN} characters"
    odd = next((character for character in name if not character.isprintable()), None)
    if odd is not None:
        return (
            f"a column name must be printable, without {describe_character(odd)};"
            " rename the column at its origin"
        )
    return None


def _sql_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    build = dataset.build
    if not isinstance(build, FromSql):
        return
    problems = check_sql(build.text, frozenset(dataset.parents), columns=None)
    for problem in problems:
        yield sql_error(build.file, build.text, problem)
    if problems:
        return
    if (
        dataset.load.type is LoadType.APPEND
        and len(dataset.parents) > 1
        and combines_rows(build.text)
    ):
        at: tuple[str | int, ...] = ("parents",)
        first = dataset.parents[0]
        problem_text = f"an APPEND build reads new rows of {first} and all rows of other parents"
        hint = ", so a UNION would repeat them; join them, or load FULL"
        yield BadSql(locate(dataset, at), problem=problem_text, hint=hint, at=at)
    for parent in unread_parents(build.text, dataset.parents):
        at = ("parents", dataset.parents.index(parent))
        problem_text = f"{build.file} does not read {parent}"
        hint = "; remove it from parents"
        yield BadSql(locate(dataset, at), problem=problem_text, hint=hint, at=at)


# Python builds; the code itself is checked when the file is read.


def _python_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """A valid file and function, the file's hash, and declared parents."""
    build, at = dataset.build, ("build", "python")
    if not isinstance(build, FromPython):
        return
    problem = path_problem(build.file, "python")
    if problem is None and not build.function.isidentifier():
        problem = "write a function name"
    if problem is None and not is_sha256(build.sha256):
        problem = "write the SHA-256 of the file"
    if problem is not None:
        yield WrongValue(locate(dataset, at), key="python", problem=problem, hint="", at=list(at))
    if not dataset.parents:
        yield MissingKey(locate(dataset, at), key="parents", at=list(at))
