"""The log of records: the truth, from which all else is computed.

A log is a row of numbered files with lines. The port has two implementations: segments of a local
folder, to which lines are appended, and an object store, where each append is an object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from lakeguard.records.files.log_lines import (
    DamagedBytes,
    LogLine,
    checksum_of,
    is_damaged_end,
    read_line,
)
from lakeguard_sdk.errors import RecordsDamaged

_OFFSET_BITS = 32
LARGEST_FILE = 2**_OFFSET_BITS - 1
_AT_ONCE = 1 << 20


class LogEnd(NamedTuple):
    """A place between two lines."""

    file: int = 1
    offset: int = 0
    sequence: int = 1
    """Of the line that follows."""


class Entry(NamedTuple):
    place: int
    """Of the line: its file and offset in one number."""
    line: LogLine
    after: LogEnd


class RecordLog(Protocol):
    place: str
    """What messages call it."""
    may_tear: bool
    """Whether the end of the last file may be part of an append that was cut off."""

    def alone(self) -> AbstractContextManager[None]:
        """Held by a writer: others, and readers of what is new, wait. No guarantee in an object
        store, where ``append`` tells who came first."""

    def shared(self) -> AbstractContextManager[None]:
        """Held by a reader of what is new: no append is under way."""

    def files(self) -> list[int]:
        """Numbers of the files, sorted."""

    def has_more(self, end: LogEnd) -> bool: ...
    def has_file(self, file: int) -> bool: ...
    def read(self, file: int, offset: int, length: int) -> bytes:
        """Fewer bytes at the end of the file; none if there is no such file."""

    def sync(self, end: LogEnd) -> None:
        """Returns when the file of this place is durable."""

    def append(self, lines: Sequence[bytes], end: LogEnd) -> int | None:
        """The place of the first line, once all are durable; None if the log has grown since.
        Raises ``RecordsUnavailable`` if they cannot be written; then none of them is."""

    def name(self, file: int) -> str: ...
    def close(self) -> None: ...


def place_of(file: int, offset: int) -> int:
    return file << _OFFSET_BITS | offset


def shown_place(log: RecordLog, place: int) -> str:
    return f"{log.name(place >> _OFFSET_BITS)}, byte {place & LARGEST_FILE}"


def entries(log: RecordLog, start: LogEnd) -> Iterator[Entry]:
    """The lines after a place, verified; the last may belong to a batch that was cut off. Raises
    ``RecordsDamaged`` at the first line that has other bytes than were written."""
    file, offset, sequence = start
    while True:
        for at, raw in _raw_lines(log, file, offset):
            if not raw.endswith(b"\n"):
                _require_torn(log, file, at, raw)
                return
            place = place_of(file, at)
            line = _read(log, place, raw)
            if line.sequence != sequence:
                raise damaged(log, place, f"line {sequence} is missing")
            sequence += 1
            yield Entry(place, line, LogEnd(file, at + len(raw), sequence))
        if not log.has_file(file + 1):
            return
        file, offset = file + 1, 0


def batches(log: RecordLog, start: LogEnd) -> Iterator[list[Entry]]:
    """Whole batches after a place, in order; one that was cut off at the end is left out."""
    batch: list[Entry] = []
    for entry in entries(log, start):
        if batch and entry.line.left != batch[-1].line.left - 1:
            raise damaged(log, batch[0].place, "the batch that begins here is not whole")
        batch.append(entry)
        if entry.line.left == 0:
            yield batch
            batch = []
    if batch and not log.may_tear:
        raise damaged(log, batch[0].place, "the batch that begins here is not whole")


def line_at(log: RecordLog, place: int) -> LogLine:
    """The line at a place where one was written; raises ``RecordsDamaged``."""
    raw = raw_line(log, place)
    if not raw.endswith(b"\n"):
        raise damaged(log, place, "the line that was written here is missing or has no end")
    return _read(log, place, raw)


def raw_line(log: RecordLog, place: int, length: int = 4096) -> bytes:
    file, offset = place >> _OFFSET_BITS, place & LARGEST_FILE
    while True:
        piece = log.read(file, offset, length)
        found = piece.find(b"\n")
        if found >= 0:
            return piece[: found + 1]
        if len(piece) < length:
            return piece
        length *= 8


def log_id(log: RecordLog) -> str:
    """The checksum of the first line, which is another one in another log."""
    return checksum_of(raw_line(log, place_of(1, 0)).removesuffix(b"\n"))


def damaged(log: RecordLog, place: int, reason: str) -> RecordsDamaged:
    return RecordsDamaged(place=f"{log.place}/{shown_place(log, place)}", reason=reason)


def _raw_lines(log: RecordLog, file: int, offset: int) -> Iterator[tuple[int, bytes]]:
    """Lines with their offset; the last of the file may have no end."""
    rest = b""
    while True:
        piece = log.read(file, offset + len(rest), _AT_ONCE)
        if not piece:
            break
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield offset, line + b"\n"
            offset += len(line) + 1
    if rest:
        yield offset, rest


def _require_torn(log: RecordLog, file: int, offset: int, raw: bytes) -> None:
    if not log.may_tear or is_damaged_end(raw) or log.has_file(file + 1):
        raise damaged(log, place_of(file, offset), "the line has no end")


def _read(log: RecordLog, place: int, raw: bytes) -> LogLine:
    try:
        return read_line(raw)
    except (DamagedBytes, KeyError, TypeError) as error:
        raise damaged(log, place, str(error)) from None
