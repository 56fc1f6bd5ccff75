"""Table locations: fixed at registration, and never nested."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from lakeguard.registry.kinds import LAYER_FOLDERS
from lakeguard_sdk.model.definitions import DatasetDefinition, TargetDefinition
from lakeguard_sdk.storage.run_folders import QUARANTINE
from lakeguard_sdk.storage.storage import LAKE_SCHEMES, is_remote, local_path

LONGEST_LOCATION = 160
"""A table's location, including layer and name, is stored in 300 characters."""
LONGEST_PLACE = 300


def table_place(dataset: DatasetDefinition, target: TargetDefinition | None) -> str:
    """The dataset's own location, else ``<layer>/<name>`` below its target's location, if any."""
    if dataset.location:
        return dataset.location
    own = f"{dataset.dataset.layer}/{dataset.dataset.name}"
    return own if target is None else f"{target.location.rstrip('/')}/{own}"


def own_place_problem(location: str) -> str | None:
    """The problem of a dataset's own location, which must be absolute, or None."""
    if not location:
        return None
    if not _is_absolute(location):
        return "write the absolute path of the table's folder"
    return location_problem(location, LONGEST_PLACE)


def outside_problem(location: str, root: str) -> str | None:
    """The problem of a location inside the lake, where tables are placed by name, or None."""
    if not location or not _is_below(f"{on_disk(location, root)}/", root):
        return None
    return "the folder is inside the lake; remove location"


def location_problem(location: str, longest: int = LONGEST_LOCATION) -> str | None:
    """The problem of a target's location, or None."""
    if not location.strip() or not location.isprintable() or len(location) > longest:
        return f"write a folder on one line, at most {longest} characters"
    scheme = urlsplit(location).scheme if ":" in location else ""
    if scheme in LAKE_SCHEMES:
        return _store_problem(location)
    if scheme not in ("", "file"):
        return (
            f"{scheme[:20]}: is not available; write a folder, or {LAKE_SCHEMES[0]}://BUCKET/FOLDER"
        )
    if scheme == "file" and not location.startswith("file:///"):
        return "write file:/// and the absolute path of the folder"
    folder = unquote(location.removeprefix("file://")) if scheme else location
    parts = folder.strip("/").split("/")
    hidden = "\\" in folder or not folder.isprintable() or folder.startswith("//")
    if hidden or any(part in ("", ".", "..") for part in parts):
        return "write a folder such as zones/raw, without . or .. or empty parts"
    return None if folder.startswith("/") else _reserved(parts[0])


def _store_problem(location: str) -> str | None:
    """The problem of a folder of an object store, or None."""
    bucket, *parts = location.partition("://")[2].rstrip("/").split("/")
    odd = "\\" in location or "?" in location or "#" in location or "@" in bucket
    if odd or not bucket or not parts or any(part in ("", ".", "..") for part in parts):
        return "write a folder such as s3://BUCKET/zones/raw, without . or .. or empty parts"
    return None


def lake_problem(location: str, root: str) -> str | None:
    """The problem of an absolute location inside the lake, or None."""
    if not _is_absolute(location):
        return None
    found = on_disk(location, root)
    return _reserved(found[len(root) + 1 :].split("/")[0]) if _is_below(found, root) else None


def on_disk(place: str, root: str | None) -> str:
    """The normalized location; without the lake's root, relative ones are unchanged."""
    if is_remote(place):
        return place.rstrip("/")
    if _is_absolute(place):
        return os.path.realpath(local_path(place))
    return place if root is None else f"{root}/{place}"


def root_of(lake: str) -> str:
    return lake.rstrip("/") if is_remote(lake) else os.path.realpath(local_path(lake))


def nested_places(
    new: Mapping[str, str], registered: Mapping[str, str], root: str | None = None
) -> Iterator[tuple[str, str]]:
    """Each new location equal to, inside or around another, with the name found there; also those
    that contain the lake's root, if it is known."""
    there, mine = _by_disk(registered, root), _by_disk(new, root)
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
    """Why a folder of the lake is reserved, or None."""
    if folder in (*LAYER_FOLDERS, "definitions", "sql", QUARANTINE):
        return f"{folder}/ is reserved; choose another folder"
    if folder.startswith((".", "_")):
        return "folders that begin with . or _ cannot hold tables"
    return None


def _by_disk(places: Mapping[str, str], root: str | None) -> dict[str, dict[str, str]]:
    """Locations and names by normalized location, as one folder can be written in several ways."""
    found: dict[str, dict[str, str]] = {}
    for place, name in places.items():
        found.setdefault(on_disk(place, root), {})[place] = name
    return found


def _is_absolute(place: str) -> bool:
    return place.startswith(("/", "file:")) or is_remote(place)


def _is_below(place: str, folder: str) -> bool:
    return place.startswith(f"{folder}/")


def _above(place: str) -> Iterator[str]:
    """The location and its parent folders."""
    while place:
        yield place
        place = place.rpartition("/")[0]
