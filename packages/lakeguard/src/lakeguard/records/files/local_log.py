"""The log in a local folder: JSON lines in segments.

A writer holds a file lock, appends and syncs. A line that a killed writer left unfinished is
ignored by readers and cut off by the next writer. Readers look at what is new while no append is
under way, and sync it before they show it: nobody sees a record that a power failure takes back.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lakeguard.records.files.log import LARGEST_FILE, LogEnd, place_of
from lakeguard_sdk.errors import RecordsDamaged, RecordsUnavailable
from lakeguard_sdk.storage.fault_points import reached

SEGMENT_BYTES = 64 * 1024 * 1024
"""A segment that is longer is the last one no more."""
_ENDING = ".jsonl"
_MOST_OPEN = 16


class LocalLog:
    may_tear = True

    def __init__(self, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.place = str(folder)
        self._folder, self._segment_bytes = folder, segment_bytes
        self._open: OrderedDict[int, int] = OrderedDict()
        self._opening = threading.Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        try:
            _make_folder(self._folder)
            handle = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise self._unavailable(error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def shared(self) -> Iterator[None]:
        try:
            handle = os.open(self._folder / ".lock", os.O_RDONLY)
        except FileNotFoundError:  # nobody has written here, as in a copy of a lake
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield
        finally:
            os.close(handle)

    def files(self) -> list[int]:
        if not self._folder.is_dir():
            return []
        names = (name.removesuffix(_ENDING) for name in os.listdir(self._folder))
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def has_more(self, end: LogEnd) -> bool:
        try:
            size = os.stat(self._path(end.file)).st_size
        except FileNotFoundError:
            size = 0
        if size < end.offset:
            raise RecordsDamaged(
                place=f"{self.place}/{self.name(end.file)}",
                reason=f"it has {size} bytes; {end.offset} were written",
            )
        return size > end.offset or self.has_file(end.file + 1)

    def has_file(self, file: int) -> bool:
        return os.path.exists(self._path(file))

    def read(self, file: int, offset: int, length: int) -> bytes:
        with self._opening:  # so that no other thread closes it meanwhile
            try:
                return os.pread(self._handle(file), length, offset)
            except FileNotFoundError:
                return b""
            except OSError as error:
                raise self._unavailable(error) from None

    def sync(self, end: LogEnd) -> None:
        with self._opening:
            try:
                os.fsync(self._handle(end.file))
            except OSError as error:
                raise self._unavailable(error) from None

    def append(self, lines: Sequence[bytes], end: LogEnd) -> int | None:
        content = b"".join(lines)
        file, offset = end.file, end.offset
        try:
            if offset >= self._segment_bytes:
                os.truncate(self._path(file), offset)
                file, offset = file + 1, 0
            if offset + len(content) > LARGEST_FILE:
                raise OSError(errno.EFBIG, "so many records at once are too large")
            self._write(file, offset, content)
        except OSError as error:
            raise self._unavailable(error) from None
        return place_of(file, offset)

    def name(self, file: int) -> str:
        return f"{file:08}{_ENDING}"

    def close(self) -> None:
        with self._opening:
            while self._open:
                os.close(self._open.popitem()[1])

    def _write(self, file: int, offset: int, content: bytes) -> None:
        is_new = not self.has_file(file)
        handle = os.open(self._path(file), os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.ftruncate(handle, offset)
            try:
                _write_all(handle, content, offset)
                reached("records.appended")
                os.fsync(handle)
            except OSError:
                with suppress(OSError):  # the next writer does it then
                    os.ftruncate(handle, offset)
                raise
        finally:
            os.close(handle)
        if is_new:
            _sync(self._folder)
        reached("records.synced")

    def _handle(self, file: int) -> int:
        handle = self._open.pop(file, None)
        if handle is None:
            handle = os.open(self._path(file), os.O_RDONLY)
            if len(self._open) >= _MOST_OPEN:
                os.close(self._open.popitem(last=False)[1])
        self._open[file] = handle
        return handle

    def _path(self, file: int) -> Path:
        return self._folder / self.name(file)

    def _unavailable(self, error: OSError) -> RecordsUnavailable:
        return RecordsUnavailable(place=self.place, reason=error.strerror or str(error))


def _write_all(handle: int, content: bytes, offset: int) -> None:
    rest = memoryview(content)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def _make_folder(folder: Path) -> None:
    """With the folders above it; each is durable."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync(folder.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
