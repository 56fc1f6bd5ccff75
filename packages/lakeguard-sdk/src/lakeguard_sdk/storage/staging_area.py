"""Staged files of a lake in an object store, kept on this machine until they are durable.

A local Spark writes them to a folder, where they are measured and hashed at the speed of a disk.
``make_durable`` uploads a file under its final name; nothing is ever renamed in the store. Readers
of the location see the local file while there is one. A Spark on other machines writes to the store
itself: where no local file was staged, the files of the store count.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from lakeguard_sdk.storage.local_files import LocalStorage
from lakeguard_sdk.storage.location import (
    FileFacts,
    FileMark,
    FolderListing,
    below,
    is_below,
    is_marker,
    join,
)
from lakeguard_sdk.storage.object_store import ObjectStorage
from lakeguard_sdk.storage.run_folders import RUN_FOLDER

_LOCAL = LocalStorage()


class StagingArea:
    """The files below ``prefix``: those in ``folder``, and those of the store."""

    def __init__(self, prefix: str, folder: Path, store: ObjectStorage, run_id: str = "") -> None:
        self.prefix, self.folder, self._store = prefix.rstrip("/"), folder, store
        self.run_id = run_id
        self._sent: set[str] = set()
        """Files that may be in the store, in whatever state."""
        self._uploaded: set[str] = set()
        """Files that are there as they are here."""
        self._others_write = False
        self._lock = threading.Lock()

    def holds(self, location: str) -> bool:
        """Whether a location is in this area, and in no folder of another run."""
        if location.rstrip("/") != self.prefix and not is_below(location, self.prefix):
            return False
        runs = [part for part in location.split("/") if part.startswith(RUN_FOLDER)]
        return not self.run_id or all(run == f"{RUN_FOLDER}{self.run_id}" for run in runs)

    def local(self, location: str) -> str:
        """Where the file is, or would be, on this machine."""
        inside = "" if location.rstrip("/") == self.prefix else below(location, self.prefix)
        return join(str(self.folder), inside) if inside else str(self.folder)

    def has_local(self, location: str) -> bool:
        return _LOCAL.is_taken(self.local(location))

    def exists(self, location: str) -> bool:
        return self.has_local(location) or self._in_store(location)

    def has_files(self, location: str) -> bool:
        return _LOCAL.has_files(self.local(location)) or self._store.has_files(location)

    def is_regular(self, location: str) -> bool:
        return _LOCAL.is_regular(self.local(location)) or self._in_store(location)

    def is_taken(self, location: str) -> bool:
        return self.exists(location)

    def read_bytes(self, location: str) -> bytes:
        if self.has_local(location):
            return _LOCAL.read_bytes(self.local(location))
        return self._store.read_bytes(location)

    def read_end(self, location: str, length: int) -> tuple[bytes, int]:
        if self.has_local(location):
            return _LOCAL.read_end(self.local(location), length)
        return self._store.read_end(location, length)

    def read_range(self, location: str, start: int, length: int) -> bytes:
        if self.has_local(location):
            return _LOCAL.read_range(self.local(location), start, length)
        return self._store.read_range(location, start, length)

    def open(self, location: str) -> BinaryIO:
        if self.has_local(location):
            return _LOCAL.open(self.local(location))
        return self._store.open(location)

    def facts(self, location: str) -> FileFacts:
        if self.has_local(location):
            return _LOCAL.facts(self.local(location))._replace(path=location)
        return self._store.facts(location)

    def mark(self, location: str) -> FileMark:
        if self.has_local(location):
            return _LOCAL.mark(self.local(location))
        return self._store.mark(location)

    def sha256(self, location: str) -> str:
        if self.has_local(location):
            return _LOCAL.sha256(self.local(location))
        return self._store.sha256(location)

    def files_under(self, location: str) -> Iterator[FileFacts]:
        found = {facts.path: facts for facts in self._local_files(location)}
        if self._is_written_in_store(location, found):
            stored = {facts.path: facts for facts in self._store.files_under(location)}
            found = {**stored, **found}
        yield from sorted(found.values())

    def names_in(self, location: str) -> list[str]:
        folder = self.local(location)
        return _LOCAL.names_in(folder) if _LOCAL.has_files(folder) else []

    def list_folder(self, location: str) -> FolderListing:
        return FolderListing(self.names_in(location))

    def sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        found = {}
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError):
                found[path] = self.facts(join(location, path)).size
        return found

    def irregular_under(self, location: str) -> Iterator[str]:
        return _LOCAL.irregular_under(self.local(location))

    def make_folder(self, location: str) -> None:
        _LOCAL.make_folder(self.local(location))

    def create(self, location: str, data: bytes) -> bool:
        return not self.exists(location) and _LOCAL.create(self.local(location), data)

    def update(self, location: str, data: bytes, mark: FileMark) -> bool:
        self._changed(location)
        return _LOCAL.update(self.local(location), data, mark)

    def replace(self, location: str, data: bytes) -> None:
        self._changed(location)
        _LOCAL.replace(self.local(location), data)

    def move(self, location: str, name: str) -> bool:
        self._changed(location, name)
        return _LOCAL.move(self.local(location), self.local(name))

    def upload(self, file: Path, location: str) -> None:
        self._changed(location)
        _LOCAL.upload(file, self.local(location))

    def link(self, location: str, name: str) -> None:
        """Of a file in the store, the store makes a copy."""
        if is_below(location, self.prefix) and self.has_local(location):
            _LOCAL.link(self.local(location), self.local(name))
            return
        with self._lock:
            self._sent.add(name)
        self._store.link(location, name)
        with self._lock:
            self._uploaded.add(name)

    def make_durable(self, location: str) -> None:
        """Upload a file that is only here; folders need nothing."""
        local = self.local(location)
        with self._lock:
            if location in self._uploaded or not _LOCAL.is_regular(local):
                return
            self._sent.add(location)
        self._store.upload(Path(local), location)
        with self._lock:
            self._uploaded.add(location)

    def sync_content(self, location: str) -> None:
        """Later stores through mapped memory change the mark of the local file."""
        if self.has_local(location):
            _LOCAL.sync_content(self.local(location))

    def remove(self, location: str, root: str) -> None:
        if self.has_local(location):
            _LOCAL.remove(self.local(location), str(self.folder))
        self._changed(location)
        if location in self._sent or self._others_write:
            self._store.remove(location, root)

    def local_files(self) -> Iterator[FileFacts]:
        """What is on this machine."""
        return self._local_files(self.prefix)

    def _changed(self, *locations: str) -> None:
        with self._lock:
            self._uploaded.difference_update(locations)

    def _local_files(self, location: str) -> Iterator[FileFacts]:
        for facts in _LOCAL.files_under(self.local(location)):
            yield facts._replace(path=join(self.prefix, below(facts.path, str(self.folder))))

    def _is_written_in_store(self, location: str, local: Iterable[str]) -> bool:
        with self._lock:
            sent = tuple(self._sent)
        if any(is_below(name, location) for name in sent):
            return True
        if all(is_marker(name.rpartition("/")[2]) for name in local):
            self._others_write = self._others_write or self._store.has_files(location)
        return self._others_write

    def _in_store(self, location: str) -> bool:
        return location in self._uploaded or self._store.exists(location)
