"""Fast scan of flat JSON Lines: objects of plain values, in a few orders of keys.

It accepts less than JSON allows: no nested values, no ``\\u`` escapes, at most one blank after a
comma or colon. ``jsonl_lines.py`` scans all other files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from openlaketx.engine.machine import cores
from openlaketx.extract.files.text_files import opened_bytes

_BLOCK = 1 << 20
_LONGEST_LINE = 16 << 20
_MOST_ORDERS = 16


class Kind(StrEnum):
    """What the values of a key are, besides null."""

    EMPTY = "empty"
    TEXT = "text"
    BOOLEAN = "boolean"
    SMALL = "small"
    """Whole numbers of at most nine digits."""
    WHOLE = "whole"
    SHORT = "short"
    """At most 15 digits: a double keeps them all."""
    NUMBER = "number"
    MIXED = "mixed"


_TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"'
_SMALL = r"(?:0|-?[1-9][0-9]{0,8})"
_WHOLE = r"(?:0|-?[1-9][0-9]{0,17})"
_SHORT = r"(?:(?:0|-?[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?|-0\.[0-9]{1,6})"
_NUMBER = r"(?:(?:0|-?[1-9][0-9]*)(?:\.[0-9]+)?|-0\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BOOLEAN = "true|false"
_PATTERNS = {
    Kind.EMPTY: "null",
    Kind.TEXT: f"{_TEXT}|null",
    Kind.BOOLEAN: f"{_BOOLEAN}|null",
    Kind.SMALL: f"{_SMALL}|null",
    Kind.WHOLE: f"{_WHOLE}|null",
    Kind.SHORT: f"{_SHORT}|null",
    Kind.NUMBER: f"{_NUMBER}|null",
    Kind.MIXED: f"{_TEXT}|{_BOOLEAN}|{_NUMBER}|null",
}
"""None accepts ``-0``, which DuckDB reads as 0."""
_NUMBERS = (Kind.SMALL, Kind.WHOLE, Kind.SHORT, Kind.NUMBER)


class FlatScan:
    """The keys in order of first occurrence, each with its kind, and the number of lines."""

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}
        self.lines = 0
        self._orders: list[tuple[str, ...]] = []
        self._pattern = ""

    def matches(self, block: bytes) -> bool:
        """Whether every line has a known order and kinds."""
        if not self._pattern:
            return False
        given = pa.array([block], pa.large_binary())
        return bool(pc.match_substring_regex(given, rf"\A(?:{self._pattern})*\z")[0].as_py())

    def add(self, block: bytes, read: Callable[[str], dict[str, object]]) -> bool:
        """Learn the orders and kinds of all lines; False if a line is not flat."""
        while not self.matches(block):
            line = self._first_unknown(block)
            if not self._learn(read(line.decode())):
                return False
            if not self.matches(line):
                return False
        self.lines += block.count(b"\n")
        return True

    def _first_unknown(self, block: bytes) -> bytes:
        lines = block.splitlines(keepends=True)
        if not self._pattern:
            return lines[0]
        known = pc.match_substring_regex(
            pa.array(lines, pa.large_binary()), rf"\A(?:{self._pattern})\z"
        )
        first: int = pc.index(known, False).as_py()
        return lines[first]

    def _learn(self, found: dict[str, object]) -> bool:
        for key, value in found.items():
            kind, before = _kind(value), self.kinds.get(key, Kind.EMPTY)
            self.kinds[key] = joined(before, kind)
        if tuple(found) not in self._orders:
            self._orders.append(tuple(found))
        self._pattern = "|".join(map(self._line, self._orders))
        return 0 < len(self._orders) <= _MOST_ORDERS and bool(found)

    def _line(self, order: tuple[str, ...]) -> str:
        members = (
            f"{_literal(json.dumps(key, ensure_ascii=False))}: ?(?:{_PATTERNS[self.kinds[key]]})"
            for key in order
        )
        return rf"\{{{', ?'.join(members)}\}}\r?\n"


def scan_flat(path: str, read: Callable[[str], dict[str, object]]) -> FlatScan | None:
    """None unless every line is flat; ``read`` decodes one line, ValueError if it is malformed."""
    scan = FlatScan()
    try:
        with (
            opened_bytes(path) as file,
            ThreadPoolExecutor(cores(), thread_name_prefix="scan") as pool,
        ):
            blocks = _blocks(file.read)
            while together := list(islice(blocks, 2 * cores())):
                for block, known in zip(together, pool.map(scan.matches, together), strict=True):
                    if known:
                        scan.lines += block.count(b"\n")
                    elif not scan.add(block, read):
                        return None
    except (ValueError, RecursionError):
        return None
    return scan


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Whole lines, each with its end; ValueError for undecodable bytes and very long lines."""
    rest = b""
    while chunk := read(_BLOCK):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest += chunk
            if len(rest) > _LONGEST_LINE:
                raise ValueError("a very long line")
            continue
        yield _decodable(rest + chunk[:cut])
        rest = chunk[cut:]
    if rest:
        yield _decodable(rest + b"\n")


def _decodable(block: bytes) -> bytes:
    if not block.isascii():
        block.decode()
    return block


def _kind(value: object) -> Kind:
    """Of a decoded value whose numbers are texts of their own class."""
    if value is None:
        return Kind.EMPTY
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if not isinstance(value, NumberText):
        return Kind.TEXT
    return next(kind for kind in (*_NUMBERS, Kind.MIXED) if _is(value, kind))


class NumberText(str):
    """A number as written."""

    __slots__ = ()


def _is(value: str, kind: Kind) -> bool:
    return kind is Kind.MIXED or re.fullmatch(_PATTERNS[kind], value, re.ASCII) is not None


def joined(one: Kind, other: Kind) -> Kind:
    """The kind that includes both."""
    if one is other or other is Kind.EMPTY:
        return one
    if one is Kind.EMPTY:
        return other
    if one not in _NUMBERS or other not in _NUMBERS:
        return Kind.MIXED
    larger = {one, other} - {Kind.SMALL}
    return larger.pop() if len(larger) == 1 else Kind.NUMBER


def _literal(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())
