"""What a dataset and a profile say about differences of schema, held against what is possible."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.locating import Locate
from lakeguard.registry.profiles import reaction_problem
from lakeguard_sdk.definition import DatasetDefinition, ProfileDefinition
from lakeguard_sdk.errors import DefinitionError, UnknownType, WrongValue
from lakeguard_sdk.schema import normal_type


def schema_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Columns to leave out that are declared, or stand there twice; types that are none."""
    names = {column.name.casefold() for column in dataset.columns}
    seen: set[str] = set()
    for index, name in enumerate(dataset.leave_out):
        problem = _problem(name, names, seen)
        seen.add(name.casefold())
        if problem is not None:
            at = ("schema", "leave_out", index)
            place = locate(dataset, at)
            yield WrongValue(place, key="leave_out", problem=problem, hint="", at=list(at))
    for column in dataset.columns:
        if column.widened_from and not _is_type(column.widened_from):
            path = ("columns", column.name, "widened_from")
            said = column.widened_from[:80]
            yield UnknownType(locate(dataset, path), type=said, hint="", at=list(path))


def profile_errors(profile: ProfileDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Reactions that the class of change cannot have."""
    for change, reaction in profile.reactions.items():
        problem = reaction_problem(change.value, reaction.value)
        if problem is not None:
            at = ("reactions", change.value.lower())
            place = locate(profile, at)
            yield WrongValue(place, key="reactions", problem=problem, hint="", at=list(at))


def _problem(name: str, declared: set[str], seen: set[str]) -> str | None:
    if not name.strip():
        return "name a column"
    if name.casefold() in declared:
        return f"{name[:80]} is declared, too"
    return f"{name[:80]} stands twice" if name.casefold() in seen else None


def _is_type(text: str) -> bool:
    try:
        return normal_type(text) == text
    except ValueError:
        return False
