"""Where tables lie: fixed when a dataset is registered, and never one inside another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from lakeguard.registry.kinds import LAYER_FOLDERS
from lakeguard_sdk.definition import TargetDefinition
from lakeguard_sdk.names import DatasetName

LONGEST_LOCATION = 160
"""A table's place, with layer and name, has a column of 300 characters."""


def table_place(name: DatasetName, target: TargetDefinition | None) -> str:
    """``<layer>/<name>``, below the target's own location where there is a target."""
    own = f"{name.layer}/{name.name}"
    return own if target is None else f"{target.location.rstrip('/')}/{own}"


def location_problem(location: str) -> str | None:
    """What keeps a target's location from being one, if anything does."""
    if not location.strip() or not location.isprintable() or len(location) > LONGEST_LOCATION:
        return f"write a folder on one line, at most {LONGEST_LOCATION} characters"
    scheme = urlsplit(location).scheme if ":" in location else ""
    if scheme not in ("", "file"):
        return f"{scheme[:20]}: is not available yet"
    parts = location.removeprefix("file:").strip("/").split("/")
    if "\\" in location or any(part in ("", ".", "..") for part in parts):
        return "write a folder such as zones/raw, without . or .. or empty parts"
    relative = not location.startswith(("/", "file:"))
    if relative and parts[0] in (*LAYER_FOLDERS, "definitions", "sql"):
        return f"{parts[0]}/ holds something else; write a folder of its own"
    if relative and parts[0].startswith((".", "_")):
        return "a folder that begins with . or _ is not for tables"
    return None


def nested_places(new: Mapping[str, str], held: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each new place that lies at, in or around another, with the name that is there."""
    for place, name in new.items():
        for above in _above(place):
            for other in (held.get(above), new.get(above)):
                if other not in (None, name):
                    yield place, str(other)
    for place, name in held.items():
        for above in _above(place):
            if above in new and above != place:
                yield above, name


def _above(place: str) -> Iterator[str]:
    """The place and every folder around it."""
    while place:
        yield place
        place = place.rpartition("/")[0]
