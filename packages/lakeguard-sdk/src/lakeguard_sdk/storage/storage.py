"""The storage port for table files.

A location is a URI or a plain path; the planes access locations only through this port.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlsplit


class FileFacts(NamedTuple):
    path: str
    size: int
    modified_ms: int


class FileMark(NamedTuple):
    """Changes with every write to a file or its name; programs cannot set it back."""

    identity: str
    size: int
    changed_ns: int


class Storage(Protocol):
    def exists(self, location: str) -> bool: ...
    def read_bytes(self, location: str) -> bytes: ...
    def facts(self, location: str) -> FileFacts: ...
    def mark(self, location: str) -> FileMark:
        """OSError for anything but a regular file."""

    def sha256(self, location: str) -> str: ...
    def files_under(self, location: str) -> Iterator[FileFacts]: ...
    def irregular_under(self, location: str) -> Iterator[str]:
        """Links, pipes and the like: what is neither a folder nor a regular file of one name."""

    def make_durable(self, location: str) -> None: ...
    def sync_content(self, location: str) -> None:
        """Write a file to disk. Later stores through memory mapped before change its mark."""

    def remove(self, location: str, root: str) -> None: ...
    def link(self, location: str, name: str) -> None:
        """Hard link; creates folders as needed."""


def join(location: str, *parts: str) -> str:
    return "/".join([location.rstrip("/"), *(part.strip("/") for part in parts)])


def located(lake: str, location: str) -> str:
    """Resolves a location of a definition: relative ones are below the lake."""
    if location.startswith(("/", "file:")):
        return location
    return join(lake, location)


class LocalStorage:
    """Local files. ``make_durable`` syncs the file and its folder."""

    def exists(self, location: str) -> bool:
        return _path(location).exists()

    def read_bytes(self, location: str) -> bytes:
        return _path(location).read_bytes()

    def facts(self, location: str) -> FileFacts:
        stat = _path(location).stat()
        return FileFacts(location, stat.st_size, stat.st_mtime_ns // 1_000_000)

    def mark(self, location: str) -> FileMark:
        stat = _path(location).lstat()
        if not S_ISREG(stat.st_mode):
            raise OSError(f"{location} is not a regular file")
        return FileMark(f"{stat.st_dev}:{stat.st_ino}", stat.st_size, stat.st_ctime_ns)

    def sha256(self, location: str) -> str:
        with _path(location).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def files_under(self, location: str) -> Iterator[FileFacts]:
        root = _path(location)
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield self.facts(str(path))

    def irregular_under(self, location: str) -> Iterator[str]:
        root = _path(location)
        for path in (root, *sorted(root.rglob("*"))):
            found = path.lstat() if path.is_symlink() or path.exists() else None
            if found is None or S_ISDIR(found.st_mode):
                continue
            if not S_ISREG(found.st_mode) or found.st_nlink > 1:
                yield str(path)

    def link(self, location: str, name: str) -> None:
        place = _path(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.hardlink_to(_path(location))

    def make_durable(self, location: str) -> None:
        path = _path(location)
        _sync(path)
        _sync(path.parent)

    def sync_content(self, location: str) -> None:
        _sync(_path(location))

    def remove(self, location: str, root: str) -> None:
        """Removes the file, and folders below ``root`` that become empty.

        Raises OSError for a path through a symbolic link.
        """
        path, top = _path(location), _path(root)
        if path.resolve() != top.resolve() / path.relative_to(top):
            raise OSError(f"{path} is or contains a symbolic link")
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == top or any(folder.iterdir()):
                return
            folder.rmdir()


def storage_for(location: str) -> Storage:
    """The storage for a location; raises ValueError for an unsupported scheme."""
    scheme = urlsplit(location).scheme
    if scheme not in ("", "file"):
        raise ValueError(f"no storage is installed for {scheme}:// locations")
    return LocalStorage()


def local_path(location: str) -> str:
    return str(_path(location))


def _path(location: str) -> Path:
    parts = urlsplit(location)
    return Path(unquote(parts.path)) if parts.scheme == "file" else Path(location)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
