"""Parquet files whose footer is changed after they were written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Typed = dict[int, tuple[int, Any]]
"""Fields of a structure by number, each with its type in Thrift's compact protocol."""
I32, I64, TEXT, LIST, STRUCT = 5, 6, 8, 9, 12
_WHOLE = (4, I32, I64)
Edit = Callable[["Forged"], None]


def forged(file: Path, rows: pa.Table, edit: Edit, **options: Any) -> Path:
    """The rows, written plainly, under a footer that ``edit`` has changed."""
    plain = {"use_dictionary": False, "compression": "none", "store_schema": False}
    pq.write_table(rows, file, **{**plain, **options})
    found = Forged(file.read_bytes())
    edit(found)
    file.write_bytes(found.written())
    return file


class Forged:
    """A file as its pages and its footer."""

    def __init__(self, content: bytes) -> None:
        start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        self.body = bytearray(content[:start])
        self.footer = decoded(content[start:])

    def written(self) -> bytes:
        footer = encoded(self.footer)
        return bytes(self.body) + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    @property
    def group(self) -> Typed:
        """The first row group."""
        return self.footer[4][1][1][0]

    @property
    def chunk(self) -> Typed:
        """The first column of it."""
        return self.group[1][1][1][0]

    @property
    def data(self) -> Typed:
        """What the footer says about its pages."""
        return self.chunk[3][1]

    @property
    def column(self) -> Typed:
        """What the footer says about the type of the first column."""
        return self.footer[2][1][1][1]

    def pages(self) -> bytes:
        start = int(self.data[9][1])
        return bytes(self.body[start : start + int(self.data[7][1])])

    def add(self, content: bytes) -> int:
        """The offset of bytes that are added before the footer."""
        start = len(self.body)
        self.body += content
        return start

    def indexed(self, number: int) -> Typed:
        """The index of pages (4) or of their values (6)."""
        return decoded(bytes(self.body[self.chunk[number][1] :]))

    def index(self, number: int, found: Typed) -> None:
        content = encoded(found)
        self.chunk[number] = (I64, self.add(content))
        self.chunk[number + 1] = (I32, len(content))


def decoded(content: bytes) -> Typed:
    return _Reader(content).struct()


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._coming = iter(content)

    def struct(self) -> Typed:
        found: Typed = {}
        number = 0
        while head := next(self._coming):
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = (head & 15, self._value(head & 15))
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in _WHOLE:
            return self._signed()
        if kind == LIST:
            head = next(self._coming)
            size = self._unsigned() if head >> 4 == 15 else head >> 4
            items = [
                next(self._coming) == 1 if head & 15 in (1, 2) else self._value(head & 15)
                for _ in range(size)
            ]
            return (head & 15, items)
        if kind == STRUCT:
            return self.struct()
        size = {3: 1, 7: 8}.get(kind)
        return bytes(next(self._coming) for _ in range(self._unsigned() if size is None else size))

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := next(self._coming)) > 127:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)


def encoded(found: Typed) -> bytes:
    written, last = b"", 0
    for number, (kind, value) in sorted(found.items()):
        kind = (1 if value else 2) if kind in (1, 2) else kind
        step = number - last
        written += bytes([step << 4 | kind]) + _written(kind, value)
        last = number
    return written + b"\0"


def _written(kind: int, value: Any) -> bytes:
    if kind in (1, 2):
        return b""
    if kind in _WHOLE:
        return _unsigned(value << 1 ^ value >> 63)
    if kind == LIST:
        of, items = value
        size = len(items)
        head = bytes([size << 4 | of]) if size < 15 else bytes([240 | of]) + _unsigned(size)
        if of in (1, 2):
            return head + bytes(1 if item else 2 for item in items)
        return head + b"".join(_written(of, item) for item in items)
    if kind == STRUCT:
        return encoded(value)
    return bytes(value) if kind in (3, 7) else _unsigned(len(value)) + bytes(value)


def _unsigned(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
