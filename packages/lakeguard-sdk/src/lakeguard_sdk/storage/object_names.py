"""Patterns over the objects of a store, with the meaning that they have over files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from glob import has_magic

from lakeguard_sdk.storage.location import (
    FileFacts,
    below,
    is_marker,
    is_remote,
    located,
    until_wildcard,
)
from lakeguard_sdk.storage.storage import storage_for

_ANY_DEPTH = "**"


def matching_objects(root: str, pattern: str) -> dict[str, FileFacts]:
    """Matching objects by path, sorted; relative to the root if the pattern is. Markers of other
    tools, whose names start with ``_`` or ``.``, do not match. One listing tells all facts."""
    place = located(root, pattern)
    fixed = "/".join(until_wildcard(place.split("/")))
    if fixed == place:
        found = list(_alone(place))
    else:
        steps = below(place, fixed).split("/")
        listed = storage_for(place).files_under(fixed)
        found = [one for one in listed if _matches(below(one.path, fixed).split("/"), steps)]
    named = {one.path if is_remote(pattern) else below(one.path, root): one for one in found}
    shown = (path for path in named if not is_marker(path.rpartition("/")[2]))
    return {path: named[path] for path in sorted(shown)}


def _alone(place: str) -> Iterator[FileFacts]:
    with suppress(FileNotFoundError):
        yield storage_for(place).facts(place)


def _matches(parts: Sequence[str], steps: Sequence[str]) -> bool:
    """``**`` is any number of folders, also none. No wildcard matches a leading dot."""
    if not steps or not parts:
        return not steps and not parts
    step, *rest = steps
    if step == _ANY_DEPTH and rest:
        return _matches(parts, rest) or (
            not parts[0].startswith(".") and _matches(parts[1:], steps)
        )
    if step == _ANY_DEPTH:
        return not any(part.startswith(".") for part in parts)
    return _is_like(parts[0], step) and _matches(parts[1:], rest)


def _is_like(name: str, step: str) -> bool:
    if not has_magic(step):
        return name == step
    return fnmatchcase(name, step) and (step.startswith(".") or not name.startswith("."))
