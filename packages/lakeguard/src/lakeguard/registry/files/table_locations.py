"""Where tables lie: fixed when a dataset is registered, and never one inside another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from lakeguard.registry.kinds import LAYER_FOLDERS
from lakeguard_sdk.model.definitions import DatasetDefinition, TargetDefinition
from lakeguard_sdk.storage.run_folders import QUARANTINE
from lakeguard_sdk.storage.storage import local_path

LONGEST_LOCATION = 160
"""A table's place, with layer and name, has a column of 300 characters."""
LONGEST_PLACE = 300


def table_place(dataset: DatasetDefinition, target: TargetDefinition | None) -> str:
    """The dataset's own location; else ``<layer>/<name>``, below that of its target, if any."""
    if dataset.location:
        return dataset.location
    own = f"{dataset.dataset.layer}/{dataset.dataset.name}"
    return own if target is None else f"{target.location.rstrip('/')}/{own}"


def own_place_problem(location: str) -> str | None:
    """What keeps a dataset's own location from being one; it is absolute, or there is none."""
    if not location:
        return None
    if not _is_absolute(location):
        return "write the whole path of the table's folder, from / on"
    return location_problem(location, LONGEST_PLACE)


def outside_problem(location: str, root: str) -> str | None:
    """The same where the lake's root is known: what lies in the lake has its place by its name."""
    if not location or not _is_below(f"{on_disk(location, root)}/", root):
        return None
    return "the folder lies in the lake itself: leave the key out"


def location_problem(location: str, longest: int = LONGEST_LOCATION) -> str | None:
    """What keeps a target's location from being one, if anything does."""
    if not location.strip() or not location.isprintable() or len(location) > longest:
        return f"write a folder on one line, at most {longest} characters"
    scheme = urlsplit(location).scheme if ":" in location else ""
    if scheme not in ("", "file"):
        return f"{scheme[:20]}: is not available yet"
    if scheme == "file" and not location.startswith("file:///"):
        return "write file:/// and then the folder from the root on"
    folder = unquote(location.removeprefix("file://")) if scheme else location
    parts = folder.strip("/").split("/")
    hidden = "\\" in folder or not folder.isprintable() or folder.startswith("//")
    if hidden or any(part in ("", ".", "..") for part in parts):
        return "write a folder such as zones/raw, without . or .. or empty parts"
    return None if folder.startswith("/") else _reserved(parts[0])


def lake_problem(location: str, root: str) -> str | None:
    """The same of an absolute location that lies in the lake, whose root is known."""
    if not _is_absolute(location):
        return None
    found = on_disk(location, root)
    return _reserved(found[len(root) + 1 :].split("/")[0]) if _is_below(found, root) else None


def on_disk(place: str, root: str | None) -> str:
    """The one spelling of a place; without the lake's root, relative ones stay as they are."""
    if _is_absolute(place):
        return os.path.realpath(local_path(place))
    return place if root is None else f"{root}/{place}"


def root_of(lake: str) -> str:
    return os.path.realpath(local_path(lake))


def nested_places(
    new: Mapping[str, str], held: Mapping[str, str], root: str | None = None
) -> Iterator[tuple[str, str]]:
    """Each new place that lies at, in or around another, with the name that is there; all of
    them below the lake's root, where that is known."""
    there, mine = _by_disk(held, root), _by_disk(new, root)
    for place, name in new.items():
        found = on_disk(place, root)
        if root is not None and _is_below(f"{root}/", found):
            yield place, "the lake itself"
        for above in _above(found):
            others = {*there.get(above, {}).values(), *mine.get(above, {}).values()} - {name}
            yield from ((place, other) for other in sorted(others))
    for found, names in there.items():
        for above in _above(found.rpartition("/")[0]):
            for place in mine.get(above, ()):
                yield from ((place, name) for name in names.values())


def _reserved(folder: str) -> str | None:
    """Why a folder of the lake is not for tables of a target, if it is not."""
    if folder in (*LAYER_FOLDERS, "definitions", "sql", QUARANTINE):
        return f"{folder}/ holds something else; write a folder of its own"
    if folder.startswith((".", "_")):
        return "a folder that begins with . or _ is not for tables"
    return None


def _by_disk(places: Mapping[str, str], root: str | None) -> dict[str, dict[str, str]]:
    """Places and names, by where they lie: the same place can be written in many ways."""
    found: dict[str, dict[str, str]] = {}
    for place, name in places.items():
        found.setdefault(on_disk(place, root), {})[place] = name
    return found


def _is_absolute(place: str) -> bool:
    return place.startswith(("/", "file:"))


def _is_below(place: str, folder: str) -> bool:
    return place.startswith(f"{folder}/")


def _above(place: str) -> Iterator[str]:
    """The place and every folder around it."""
    while place:
        yield place
        place = place.rpartition("/")[0]
