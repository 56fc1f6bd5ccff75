"""Reads structures of Thrift's compact protocol, in which Parquet writes footers and pages."""

from __future__ import annotations

from typing import Any

Fields = dict[int, Any]
"""Fields of a structure by their number. Texts are bytes."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_WHOLE = (4, 5, 6)
_DEEPEST = 24


class NotThrift(ValueError):
    """The bytes end too early, or hold no structure."""


class CompactReader:
    """One structure after the other, from any bytes: a hostile one raises ``NotThrift``."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self._content = content
        self.at = at

    def struct(self, depth: int = 0) -> Fields:
        if depth > _DEEPEST:
            raise NotThrift("nested too deeply")
        found: Fields = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            if number in found:
                raise NotThrift(f"field {number} twice")
            found[number] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return int.from_bytes(self._bytes(1), "big", signed=True)
        if kind in _WHOLE:
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise NotThrift(f"type {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._unsigned()
        if size > len(self._content) - self.at:  # each item has a byte at least
            raise NotThrift("a list that is too long")
        if kind in (_TRUE, _FALSE):
            return [self._byte() == _TRUE for _ in range(size)]
        return [self._value(kind, depth) for _ in range(size)]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._content):
            raise NotThrift("it ends too early")
        found = self._content[self.at : end]
        self.at = end
        return found

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise NotThrift("a number that is too long")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
