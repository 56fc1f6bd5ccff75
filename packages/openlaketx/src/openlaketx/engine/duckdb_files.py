"""Files of an object store for DuckDB, by range reads through the storage port.

DuckDB's own extension for object stores would have to be downloaded. Its threads share one handle
of a file, each with a position of its own.
"""

from __future__ import annotations

import io
import threading
from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem

from lakeguard_sdk.storage.storage import LAKE_SCHEMES, storage_for


class StoreFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Read-only; a name is the location of one file."""

    protocol = LAKE_SCHEMES
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(path)

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        facts = storage_for(path).facts(path)
        return {"name": path, "size": facts.size, "type": "file"}

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(storage_for(path).facts(path).modified_ms / 1000, UTC)

    def exists(self, path: str, **options: Any) -> bool:
        return storage_for(path).exists(path)

    def glob(self, path: str, **options: Any) -> list[str]:
        """Names are given one by one; ``[*]`` and the like are escaped characters."""
        name = path.replace("[[]", "[").replace("[*]", "*").replace("[?]", "?")
        return [name]

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            raise OSError(f"{path} is opened for reading only")
        return _RangeFile(path, storage_for(path).facts(path).size)


class _RangeFile(io.RawIOBase):
    def __init__(self, location: str, size: int) -> None:
        self._location, self.size = location, size
        self._thread = threading.local()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._thread.at = start + offset
        return self._at

    def read(self, length: int = -1) -> bytes:
        at = self._at
        length = self.size - at if length < 0 else min(length, self.size - at)
        if length <= 0:
            return b""
        found = storage_for(self._location).read_range(self._location, at, length)
        self._thread.at = at + len(found)
        return found

    @property
    def _at(self) -> int:
        return int(getattr(self._thread, "at", 0))
