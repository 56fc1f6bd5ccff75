"""Locations: plain paths, ``file:`` URIs, and URIs of object stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from glob import has_magic
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class FileFacts(NamedTuple):
    path: str
    """Its location."""
    size: int
    modified_ms: int
    etag: str = ""
    """The object store's tag of this content; empty for a file of a folder."""


class FileMark(NamedTuple):
    """Changes with every write to a file or its name; programs cannot set it back.

    On an object store, writing the same bytes again may leave it unchanged.
    """

    identity: str
    size: int
    changed_ns: int

    def __str__(self) -> str:
        return f"{self.identity}:{self.size}:{self.changed_ns}"


class FolderListing(NamedTuple):
    """What is directly in a folder."""

    names: list[str]
    """Of files and folders, sorted."""
    marks: Mapping[str, FileMark] | None = None
    """Of the files, to be compared with those of other listings; None if a listing has none."""


def join(location: str, *parts: str) -> str:
    return "/".join([location.rstrip("/"), *(part.strip("/") for part in parts)])


def located(lake: str, location: str) -> str:
    """Resolves a location of a definition: relative ones are below the lake."""
    if location.startswith(("/", "file:")) or is_remote(location):
        return location
    return join(lake, location)


def is_remote(location: str) -> bool:
    """Whether the location is in an object store."""
    return "://" in location and urlsplit(location).scheme != "file"


def local_path(location: str) -> str:
    """The path of a local location; ValueError for an object store."""
    if is_remote(location):
        raise ValueError(f"{location} is not a local path")
    parts = urlsplit(location)
    return str(Path(unquote(parts.path)) if parts.scheme == "file" else Path(location))


def below(location: str, root: str) -> str:
    """The path of a location relative to ``root``, which contains it."""
    if is_remote(root):
        return location.removeprefix(f"{root.rstrip('/')}/")
    return local_path(location).removeprefix(f"{local_path(root).rstrip('/')}/")


def is_below(location: str, root: str) -> bool:
    """Whether a location is inside a folder, by name."""
    return location.startswith(f"{root.rstrip('/')}/")


def is_marker(name: str) -> bool:
    """Whether engines ignore files of this name, as those that other tools leave."""
    return name.startswith(("_", "."))


def until_wildcard(parts: Iterable[str]) -> list[str]:
    """The parts of a path before the first one with a wildcard."""
    return list(takewhile(lambda part: not has_magic(part), parts))
