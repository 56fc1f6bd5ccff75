"""The storage port for table files.

A location is a plain path or a URI; the planes access locations only through this port. Its
guarantees are checked by one contract suite over every implementation:

* a file is written whole or not at all, and ``create`` and ``update`` let one of many writers win;
* a store that does not respond or refuses access raises ``StoreUnavailable``, which says nothing
  about the file; whatever else fails raises OSError, FileNotFoundError for a missing file;
* a written file is durable when ``create``, ``update``, ``replace`` or ``make_durable`` returns; in
  a staging area, when ``make_durable`` returns.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from lakeguard_sdk.storage.clouds import CLOUDS, cloud_of
from lakeguard_sdk.storage.local_files import LocalStorage
from lakeguard_sdk.storage.location import (
    FileFacts,
    FileMark,
    FolderListing,
    below,
    is_below,
    is_remote,
    join,
    local_path,
    located,
)
from lakeguard_sdk.storage.object_store import ObjectStorage
from lakeguard_sdk.storage.staging_area import StagingArea
from lakeguard_sdk.storage.store_options import StoreAccess, StoreOptions

__all__ = [
    "FileFacts",
    "FileMark",
    "FolderListing",
    "LocalStorage",
    "StagingArea",
    "Storage",
    "below",
    "has_stores",
    "is_below",
    "is_remote",
    "join",
    "local_path",
    "located",
    "readable_file",
    "register_store",
    "spark_options",
    "staged_location",
    "staged_path",
    "staging_area",
    "staging_folders",
    "storage_for",
    "storage_options",
    "store_access",
    "store_options",
    "table_uri",
]

LAKE_SCHEMES = tuple(scheme for scheme, cloud in CLOUDS.items() if cloud.holds_lakes)
"""Of object stores that can hold a whole lake."""


class Storage(Protocol):
    def exists(self, location: str) -> bool:
        """Whether there is a file; locally, or a folder."""

    def has_files(self, location: str) -> bool:
        """Whether there is a folder; in an object store, one with files."""

    def is_regular(self, location: str) -> bool:
        """Whether it is a file, and neither a folder nor a link."""

    def is_taken(self, location: str) -> bool:
        """Whether the name is taken, even by a link that leads nowhere."""

    def read_bytes(self, location: str) -> bytes: ...
    def read_end(self, location: str, length: int) -> tuple[bytes, int]:
        """The last bytes of a file, fewer if it is shorter, and its size."""

    def read_range(self, location: str, start: int, length: int) -> bytes:
        """Bytes of a file; the range must be inside."""

    def open(self, location: str) -> BinaryIO:
        """A file for reading that can seek."""

    def facts(self, location: str) -> FileFacts: ...
    def mark(self, location: str) -> FileMark:
        """OSError for anything but a regular file."""

    def sha256(self, location: str) -> str: ...
    def files_under(self, location: str) -> Iterator[FileFacts]: ...
    def names_in(self, location: str) -> list[str]:
        """Names of the files and folders in a folder, sorted."""

    def list_folder(self, location: str) -> FolderListing: ...
    def sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        """Sizes of files below a folder, by relative path; those that are missing are left out."""

    def irregular_under(self, location: str) -> Iterator[str]:
        """Links, pipes and the like: what is neither a folder nor a regular file of one name."""

    def make_folder(self, location: str) -> None: ...
    def create(self, location: str, data: bytes) -> bool:
        """Write a new file; False if there is one already."""

    def update(self, location: str, data: bytes, mark: FileMark) -> bool:
        """Replace a file; False if it was written since the mark."""

    def replace(self, location: str, data: bytes) -> None:
        """Write a file, whatever was there."""

    def move(self, location: str, name: str) -> bool:
        """Rename a file; False if it is gone."""

    def upload(self, file: Path, location: str) -> None:
        """Copy a local file, whatever was there."""

    def make_durable(self, location: str) -> None: ...
    def sync_content(self, location: str) -> None:
        """Write a file to disk. Later stores through memory mapped before change its mark."""

    def remove(self, location: str, root: str) -> None: ...
    def link(self, location: str, name: str) -> None:
        """A second name for a file without moving its bytes through this process; creates folders
        as needed."""


class _Everywhere:
    """Every location, in the storage that holds it."""

    def exists(self, location: str) -> bool:
        return _held_by(location).exists(location)

    def has_files(self, location: str) -> bool:
        return _held_by(location).has_files(location)

    def is_regular(self, location: str) -> bool:
        return _held_by(location).is_regular(location)

    def is_taken(self, location: str) -> bool:
        return _held_by(location).is_taken(location)

    def read_bytes(self, location: str) -> bytes:
        return _held_by(location).read_bytes(location)

    def read_end(self, location: str, length: int) -> tuple[bytes, int]:
        return _held_by(location).read_end(location, length)

    def read_range(self, location: str, start: int, length: int) -> bytes:
        return _held_by(location).read_range(location, start, length)

    def open(self, location: str) -> BinaryIO:
        return _held_by(location).open(location)

    def facts(self, location: str) -> FileFacts:
        return _held_by(location).facts(location)

    def mark(self, location: str) -> FileMark:
        return _held_by(location).mark(location)

    def sha256(self, location: str) -> str:
        return _held_by(location).sha256(location)

    def files_under(self, location: str) -> Iterator[FileFacts]:
        return _held_by(location).files_under(location)

    def names_in(self, location: str) -> list[str]:
        return _held_by(location).names_in(location)

    def list_folder(self, location: str) -> FolderListing:
        return _held_by(location).list_folder(location)

    def sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        return _held_by(location).sizes(location, paths)

    def irregular_under(self, location: str) -> Iterator[str]:
        return _held_by(location).irregular_under(location)

    def make_folder(self, location: str) -> None:
        _held_by(location).make_folder(location)

    def create(self, location: str, data: bytes) -> bool:
        return _held_by(location).create(location, data)

    def update(self, location: str, data: bytes, mark: FileMark) -> bool:
        return _held_by(location).update(location, data, mark)

    def replace(self, location: str, data: bytes) -> None:
        _held_by(location).replace(location, data)

    def move(self, location: str, name: str) -> bool:
        return _held_by(location).move(location, name)

    def upload(self, file: Path, location: str) -> None:
        _held_by(location).upload(file, location)

    def make_durable(self, location: str) -> None:
        _held_by(location).make_durable(location)

    def sync_content(self, location: str) -> None:
        _held_by(location).sync_content(location)

    def remove(self, location: str, root: str) -> None:
        _held_by(location).remove(location, root)

    def link(self, location: str, name: str) -> None:
        _held_by(name).link(location, name)


_options: dict[str, StoreOptions] = {}
_stores: dict[str, ObjectStorage] = {}
_areas: list[tuple[StagingArea, ...]] = [()]
"""Replaced as a whole, because other threads look at it meanwhile."""
_opening = threading.Lock()
_LOCAL = LocalStorage()
_EVERYWHERE = _Everywhere()


def register_store(location: str, options: StoreOptions) -> None:
    """Reach the store of this location with these options, in this process."""
    root = _root(location)
    if _options.get(root) != options:
        _options[root] = options
        _stores.pop(root, None)


def has_stores() -> bool:
    """Whether this process has reached for an object store."""
    return bool(_options or _stores)


def storage_for(location: str) -> Storage:
    """The storage for a location; raises ValueError for an unsupported scheme."""
    _held_by(location)
    return _EVERYWHERE


@contextmanager
def staging_area(prefix: str, folder: Path, run_id: str = "") -> Iterator[StagingArea]:
    """Keep files below ``prefix``, which is in an object store, in a local folder until they are
    made durable; if there is a run, not those in folders of other runs."""
    area = StagingArea(prefix, folder, _store(prefix), run_id)
    with _opening:
        _areas[0] = (*_areas[0], area)
    try:
        yield area
    finally:
        with _opening:
            _areas[0] = tuple(one for one in _areas[0] if one is not area)


def staging_folders(prefixes: Iterable[str], run_id: str) -> dict[str, str]:
    """The local folders of the staging areas that a run has open for these prefixes."""
    wanted = set(prefixes)
    found = (area for area in _areas[0] if area.run_id == run_id and area.prefix in wanted)
    return {area.prefix: str(area.folder) for area in found}


def staged_path(location: str) -> str | None:
    """The local path of a staged file or folder; None if it is not kept on this machine."""
    area = _area_of(location)
    return area.local(location) if area is not None else None


def staged_location(path: str) -> str | None:
    """The location of a file that is kept on this machine for a staging area; None for others."""
    for area in _areas[0]:
        if is_below(path, str(area.folder)):
            return join(area.prefix, below(path, str(area.folder)))
    return None


def readable_file(location: str) -> str | BinaryIO:
    """A file as ``pyarrow`` reads it."""
    if not is_remote(location):
        return local_path(location)
    area = _area_of(location)
    if area is not None and area.has_local(location):
        return area.local(location)
    return _store(location).open(location)


def table_uri(location: str) -> str:
    """The location of a table as ``deltalake`` takes it."""
    return location if is_remote(location) else local_path(location)


def storage_options(location: str) -> dict[str, str] | None:
    """What ``deltalake`` needs to reach the location."""
    if not is_remote(location):
        return None
    root = urlsplit(location)
    return cloud_of(root.scheme).delta_options(root.netloc, store_options(location))


def store_options(location: str) -> StoreOptions:
    """How this process was told to reach the store of a location."""
    return _options.get(_root(location), StoreOptions())


def spark_options() -> dict[str, str]:
    """What Spark needs to reach the stores that this process was told of."""
    found: dict[str, str] = {}
    for root, options in sorted(_options.items()):
        if root.startswith("s3://"):
            found |= options.spark_options(root.partition("://")[2])
    return found


def store_access(location: str) -> StoreAccess | None:
    """Access to the store of a location for another process; None for a local folder."""
    if not is_remote(location):
        return None
    return store_options(location).access(location)


def _held_by(location: str) -> Storage:
    if not is_remote(location):
        return _LOCAL
    return _area_of(location) or _store(location)


def _area_of(location: str) -> StagingArea | None:
    return next((area for area in _areas[0] if area.holds(location)), None)


def _store(location: str) -> ObjectStorage:
    root = _root(location)
    if root not in _stores:
        _stores[root] = ObjectStorage(root, store_options(location))
    return _stores[root]


def _root(location: str) -> str:
    parts = urlsplit(location)
    cloud_of(parts.scheme)
    return f"{parts.scheme}://{parts.netloc}"
