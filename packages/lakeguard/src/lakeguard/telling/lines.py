"""News in a file, one line each, whole lines only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lakeguard.state.locking import sole_by_file
from lakeguard.telling.carrying import NotCarried
from lakeguard.telling.message import Message

TAIL_BYTES = 1 << 20
_MODE = 0o644


@dataclass(frozen=True)
class LinesFile:
    """A line is in the file once: before it is written, it is looked for in the file's tail."""

    path: Path
    marked_first: ClassVar[bool] = False

    def carry(self, message: Message, seconds: float) -> None:
        lock = self.path.with_name(f"{self.path.name}.lock")
        try:
            with sole_by_file(lock, seconds) as alone:
                if not alone:
                    raise NotCarried("another process has been writing to the file")
                with _opened(self.path) as handle:
                    _append_once(handle, message)
        except OSError as error:
            raise NotCarried(f"the file cannot be written: {error.strerror}") from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A plain file, at its end; a pipe would have us wait for whoever reads it."""
    new = not path.exists()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    handle = os.open(path, flags, _MODE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotCarried("it is no plain file")
        if new:
            _keep_name(path.parent)
        yield handle
    finally:
        os.close(handle)


def _append_once(handle: int, message: Message) -> None:
    size = os.fstat(handle).st_size
    tail = os.pread(handle, min(size, TAIL_BYTES), max(0, size - TAIL_BYTES))
    if message.delivery.encode() in tail:
        os.fsync(handle)  # whoever wrote it may have died before he made sure of it
        return
    begun = b"\n" if tail and not tail.endswith(b"\n") else b""
    line = begun + message.body + b"\n"
    written = 0
    try:
        written = os.write(handle, line)
    finally:
        if written != len(line):
            os.ftruncate(handle, size)
    if written != len(line):
        raise NotCarried("the disk is full")
    os.fsync(handle)


def _keep_name(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
