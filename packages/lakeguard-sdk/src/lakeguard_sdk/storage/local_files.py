"""Storage in local or mounted folders."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.location import (
    FileFacts,
    FileMark,
    FolderListing,
    join,
    local_path,
)


class LocalStorage:
    """Local files. ``make_durable`` syncs the file and its folder."""

    def exists(self, location: str) -> bool:
        return _path(location).exists()

    def has_files(self, location: str) -> bool:
        return _path(location).is_dir()

    def is_regular(self, location: str) -> bool:
        try:
            return S_ISREG(_path(location).lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def is_taken(self, location: str) -> bool:
        return os.path.lexists(_path(location))

    def read_bytes(self, location: str) -> bytes:
        return _path(location).read_bytes()

    def read_end(self, location: str, length: int) -> tuple[bytes, int]:
        with _path(location).open("rb", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - length)
            return os.pread(file.fileno(), size - start, start), size

    def read_range(self, location: str, start: int, length: int) -> bytes:
        with _path(location).open("rb", buffering=0) as file:
            return os.pread(file.fileno(), length, start)

    def open(self, location: str) -> BinaryIO:
        return _path(location).open("rb")

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

    def names_in(self, location: str) -> list[str]:
        return sorted(os.listdir(_path(location)))

    def list_folder(self, location: str) -> FolderListing:
        return FolderListing(self.names_in(location))

    def sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        found = {}
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError):
                found[path] = self.facts(join(location, path)).size
        return found

    def irregular_under(self, location: str) -> Iterator[str]:
        root = _path(location)
        for path in (root, *sorted(root.rglob("*"))):
            found = path.lstat() if path.is_symlink() or path.exists() else None
            if found is None or S_ISDIR(found.st_mode):
                continue
            if not S_ISREG(found.st_mode) or found.st_nlink > 1:
                yield str(path)

    def make_folder(self, location: str) -> None:
        _path(location).mkdir(parents=True, exist_ok=True)

    def create(self, location: str, data: bytes) -> bool:
        place = _path(location)
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = _written_beside(place, data)
        try:
            os.link(fresh, place)
        except FileExistsError:
            return False
        finally:
            fresh.unlink()
        self.make_durable(location)
        return True

    def update(self, location: str, data: bytes, mark: FileMark) -> bool:
        """Not atomic by itself: writers of a folder hold a lock."""
        if self.mark(location) != mark:
            return False
        self.replace(location, data)
        return True

    def replace(self, location: str, data: bytes) -> None:
        place = _path(location)
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = _written_beside(place, data)
        reached("file.written")
        fresh.replace(place)
        self.make_durable(location)

    def move(self, location: str, name: str) -> bool:
        place = _path(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            _path(location).rename(place)
            return True
        return False

    def upload(self, file: Path, location: str) -> None:
        place = _path(location)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, fresh := _hidden_beside(place))
        fresh.replace(place)

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


def _path(location: str) -> Path:
    return Path(local_path(location))


def _written_beside(place: Path, data: bytes) -> Path:
    """A hidden, synced copy in the same folder."""
    fresh = _hidden_beside(place)
    fresh.write_bytes(data)
    _sync(fresh)
    return fresh


def _hidden_beside(place: Path) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(8)}")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
