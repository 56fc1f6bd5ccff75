"""Reads Parquet structures in Thrift's compact protocol.

Only fields of exactly the type that the format defines are accepted: some readers skip a field of
another type, others read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = dict[int, Any]
"""Fields of a structure by number. Strings are bytes."""
Shape = Mapping[int, Any]
"""The type of each field: one of the constants below, a list with one type, or the shape of a
nested structure."""

BOOL, BYTE, I16, I32, I64, TEXT = 1, 3, 4, 5, 6, 8
_FALSE, _LIST, _STRUCT = 2, 9, 12
_DEEPEST = 24

_EMPTY: Shape = {}
_UNIT: Shape = {1: _EMPTY, 2: _EMPTY, 3: _EMPTY}
_TIME: Shape = {1: BOOL, 2: _UNIT}
_LOGICAL: Shape = {
    **dict.fromkeys((1, 2, 3, 4, 6, 11, 12, 13, 14, 15), _EMPTY),
    5: {1: I32, 2: I32}, 7: _TIME, 8: _TIME, 10: {1: BYTE, 2: BOOL},
}  # fmt: skip
_ELEMENT: Shape = {
    **dict.fromkeys((1, 2, 3, 5, 6, 7, 8, 9), I32), 4: TEXT, 10: _LOGICAL,
}  # fmt: skip
_STATISTICS: Shape = {
    **dict.fromkeys((1, 2, 5, 6), TEXT), 3: I64, 4: I64, 7: BOOL, 8: BOOL, 9: I64,
}  # fmt: skip
_SIZES: Shape = {1: I64, 2: [I64], 3: [I64]}
_PAIR: Shape = {1: TEXT, 2: TEXT}
_DATA: Shape = {
    1: I32, 2: [I32], 3: [TEXT], 4: I32, 5: I64, 6: I64, 7: I64, 8: [_PAIR], 9: I64, 10: I64,
    11: I64, 12: _STATISTICS, 13: [{1: I32, 2: I32, 3: I32}], 14: I64, 15: I32, 16: _SIZES,
}  # fmt: skip
_CHUNK: Shape = {1: TEXT, 2: I64, 3: _DATA, 4: I64, 5: I32, 6: I64, 7: I32}
_GROUP: Shape = {
    1: [_CHUNK], 2: I64, 3: I64, 4: [{1: I32, 2: BOOL, 3: BOOL}], 5: I64, 6: I64, 7: I16,
}  # fmt: skip
FOOTER: Shape = {
    1: I32, 2: [_ELEMENT], 3: I64, 4: [_GROUP], 5: [_PAIR], 6: TEXT, 7: [{1: _EMPTY}],
}  # fmt: skip
PAGE: Shape = {
    **dict.fromkeys((1, 2, 3, 4), I32),
    5: {**dict.fromkeys((1, 2, 3, 4), I32), 5: _STATISTICS},
    7: {1: I32, 2: I32, 3: BOOL},
    8: {**dict.fromkeys((1, 2, 3, 4, 5, 6), I32), 7: BOOL, 8: _STATISTICS},
}
PLACES: Shape = {1: [{1: I64, 2: I32, 3: I64}], 2: [I64]}
BOUNDS: Shape = {1: [BOOL], 2: [TEXT], 3: [TEXT], 4: I32, 5: [I64], 6: [I64], 7: [I64]}


class NotThrift(ValueError):
    """The bytes are truncated, or not such a structure."""


class CompactReader:
    """Reads one structure after another from untrusted bytes; raises ``NotThrift``."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self._content = content
        self.at = at

    def struct(self, shape: Shape, depth: int = 0) -> Fields:
        if depth > _DEEPEST:
            raise NotThrift("nested too deeply")
        found: Fields = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            if number in found or number not in shape:
                raise NotThrift(f"field {number} is not expected")
            found[number] = self._value(kind, shape[number], depth)
        return found

    def _value(self, kind: int, shape: Any, depth: int) -> Any:
        if kind in (BOOL, _FALSE) and shape == BOOL:
            return kind == BOOL
        if kind != _type_of(shape):
            raise NotThrift("a field has an unexpected type")
        if kind == BYTE:
            return int.from_bytes(self.take(1), "big", signed=True)
        if kind in (I16, I32, I64):
            return self._signed()
        if kind == TEXT:
            return self.take(self.unsigned())
        return self._list(shape[0], depth) if kind == _LIST else self.struct(shape, depth + 1)

    def _list(self, shape: Any, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self.unsigned()
        if size > len(self._content) - self.at:  # each item has a byte at least
            raise NotThrift("a list is too long")
        if kind in (BOOL, _FALSE) and shape == BOOL:
            return [self._byte() == BOOL for _ in range(size)]
        return [self._value(kind, shape, depth) for _ in range(size)]

    def _byte(self) -> int:
        return self.take(1)[0]

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._content):
            raise NotThrift("it is truncated")
        found = self._content[self.at : end]
        self.at = end
        return found

    def unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise NotThrift("a number is too long")

    def _signed(self) -> int:
        number = self.unsigned()
        return (number >> 1) ^ -(number & 1)


def _type_of(shape: Any) -> int:
    if isinstance(shape, list):
        return _LIST
    return shape if isinstance(shape, int) else _STRUCT
