"""Checks the footer of a Parquet file from an untrusted process.

Closed-world: see ``file_layout``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lakeguard_sdk.storage.storage import readable_file
from openlaketx.engine.compact_thrift import FOOTER, CompactReader, Fields, NotThrift

_MAGIC, _END = b"PAR1", 8
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_GEOMETRY = b"geo"
"""A metadata key that lists columns which DuckDB reads as geometries."""
_WRITER, _NEW_CALENDAR = b"org.apache.spark.version", b"3.1.0"
"""Compared as text, as Spark does."""
_BY_TYPE: Fields = {1: {}}
"""The order of a column. Without it, readers differ about which bounds apply."""
_BOUNDS_BY_OLD = {1: 5, 2: 6}
"""Maximum and minimum: the deprecated fields, and the current ones."""
_SIZES = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: None}
"""Bytes per value of each physical type."""
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError,
)  # fmt: skip


class UnusualLayout(ValueError):
    """Readers may differ about the file."""


def checked_footer(location: str) -> None:
    """Raises ``UnusualLayout`` if libraries may crash on the footer, or interpret it differently.

    Arrow aborts the process for a bound whose size does not match its type."""
    with opened(location) as file:
        read_footer(file)


@contextmanager
def opened(location: str) -> Iterator[BinaryIO]:
    """The opened file; any error in the block becomes ``UnusualLayout``."""
    try:
        found = readable_file(location)
        with Path(found).open("rb") if isinstance(found, str) else found as file:
            yield file
    except UnusualLayout as error:
        raise UnusualLayout(f"readers may find other rows in it: {error}") from None
    except _UNREADABLE as error:  # fields that are missing, or of another type
        message = f"it is not a plain Parquet file: {type(error).__name__} {error}"
        raise UnusualLayout(message.rstrip()) from None


class Footer(NamedTuple):
    leaves: list[Leaf]
    groups: list[Fields]
    begin: int
    """Where the first column may begin."""
    end: int
    """Where the footer begins."""


def read_footer(file: BinaryIO) -> Footer:
    size = file.seek(0, io.SEEK_END)
    tail = part(file, max(0, size - _END), _END)
    length = int.from_bytes(tail[:4], "little")
    start = size - _END - length
    if tail[4:] != _MAGIC or start < len(_MAGIC):
        raise NotThrift("it has no footer")
    reader = CompactReader(part(file, start, length))
    footer = reader.struct(FOOTER)
    if reader.at != length:
        raise UnusualLayout("its footer has two parts")
    _check_metadata(footer)
    leaves = list(_leaves(footer[2]))
    if footer.get(7) != [_BY_TYPE] * len(leaves):
        raise UnusualLayout("its columns have no order, or an unusual one")
    for group in footer[4]:
        if len(group[1]) != len(leaves):
            raise UnusualLayout("a row group has other columns")
        for chunk, leaf in zip(group[1], leaves, strict=True):
            _check_bounds(chunk[3].get(12, {}), leaf)
    if sum(group[3] for group in footer[4]) != footer[3]:
        raise UnusualLayout("its row groups have another number of rows")
    return Footer(leaves, footer[4], len(_MAGIC), start)


def part(file: BinaryIO, start: int, length: int) -> bytes:
    if start < 0 or not 0 <= length <= file.seek(0, io.SEEK_END) - start:
        raise NotThrift("it ends too early")
    file.seek(start)
    return file.read(length)


def _check_metadata(footer: Fields) -> None:
    pairs = {pair[1]: pair.get(2, b"") for pair in footer.get(5, ())}
    written_by = pairs.get(_WRITER, _NEW_CALENDAR)
    if any(name in pairs for name in _OLD_CALENDAR) or written_by < _NEW_CALENDAR:
        raise UnusualLayout("its dates use the legacy Julian calendar")
    if _GEOMETRY in pairs or len(pairs) != len(footer.get(5, ())):
        raise UnusualLayout("its metadata declare geometries, or have a duplicate key")


# Columns have a converted type, which is deprecated, and a logical type.

_STRING, _MAP, _LIST, _ENUM, _DECIMAL, _DATE, _TIMESTAMP, _INTEGER, _JSON = (
    1, 2, 3, 4, 5, 6, 8, 10, 12,
)  # fmt: skip
_CONVERTED = {_STRING: 0, _MAP: 1, _LIST: 3, _ENUM: 4, _DECIMAL: 5, _DATE: 6, _JSON: 19}
_MICROS = {2: 10}
_SIGNED = {8: 15, 16: 16, 32: 17, 64: 18}
_UNUSUAL_TYPES = (9, 11, 12, 13, 14)
"""Milliseconds and unsigned integers, which Spark does not write; Delta statistics use microseconds
and signed integers."""
_OPTIONAL, _REPEATED = 1, 2
_INNER = {_MAP: ("key_value", 2), _LIST: ("list", 1)}
"""The name of the repeated group in a map or list, and its number of fields."""


class Leaf(NamedTuple):
    path: tuple[bytes, ...]
    type: int
    size: int | None
    """Bytes per value; None for variable length."""
    optional: int
    """The maximum definition level."""
    repeated: int

    @property
    def name(self) -> str:
        return b".".join(self.path).decode(errors="replace")


def _leaves(elements: list[Fields]) -> Iterator[Leaf]:
    """All leaf columns; in the list of elements, a group precedes its fields."""
    coming = iter(elements)

    def below(count: int, path: tuple[bytes, ...], levels: tuple[int, int]) -> Iterator[Leaf]:
        for _ in range(count):
            yield from one(path, levels, "")

    def one(path: tuple[bytes, ...], levels: tuple[int, int], inner: str) -> Iterator[Leaf]:
        element = next(coming, None)
        if element is None:
            raise UnusualLayout("its columns are incomplete")
        here = (*path, element[4])
        meant, kind = _meaning(element, here), element.get(3)
        if (kind == _REPEATED) != bool(inner) or (inner and element[4].decode() != inner):
            raise UnusualLayout(f"{_name(here)} repeats in an unusual way")
        optional = levels[0] + (kind in (_OPTIONAL, _REPEATED))
        now = (optional, levels[1] + (kind == _REPEATED))
        fields = element.get(5, 0)
        if not fields:
            size = _SIZES.get(element[1], element.get(2))
            yield Leaf(here, element[1], size, *now)
        elif meant in _INNER and not inner:
            name, _ = _INNER[meant]
            if fields != 1:
                raise UnusualLayout(f"{_name(here)} repeats in an unusual way")
            yield from one(here, now, name)
        else:
            wanted = dict(_INNER.values()).get(inner, fields)
            if fields != wanted:
                raise UnusualLayout(f"{_name(here)} repeats in an unusual way")
            yield from below(fields, here, now)

    root = next(coming, {})
    yield from below(root.get(5, 0), (), (0, 0))
    if next(coming, None) is not None:
        raise UnusualLayout("it has columns without a parent")


def _meaning(element: Fields, path: tuple[bytes, ...]) -> int | None:
    """The number of the logical type, which must agree with the converted type."""
    logical: Mapping[int, Fields] = element.get(10, {})
    converted = element.get(6)
    if converted in _UNUSUAL_TYPES:
        raise UnusualLayout(f"{_name(path)} is of an unusual type")
    if not logical:
        by_converted = {old: new for new, old in _CONVERTED.items()}
        return by_converted.get(converted) if converted is not None else None
    ((kind, details),) = logical.items()
    if kind == _DECIMAL and (details[1], details[2]) != (element.get(7, 0), element.get(8)):
        raise UnusualLayout(f"{_name(path)} has two decimal types")
    wanted: tuple[int | None, ...] = (_CONVERTED.get(kind),)
    if kind == _TIMESTAMP:
        (unit,) = details[2]
        if unit not in _MICROS:
            raise UnusualLayout(f"{_name(path)} is of an unusual type")
        wanted = (_MICROS[unit], *(() if details[1] else (None,)))
    elif kind == _INTEGER:
        wanted = (_SIGNED[details[1]] if details[2] else None,)
    if converted not in wanted:
        raise UnusualLayout(f"{_name(path)} has two types")
    return kind


def _name(path: tuple[bytes, ...]) -> str:
    return b".".join(path).decode(errors="replace")


def _check_bounds(statistics: Fields, leaf: Leaf) -> None:
    """Some readers use the deprecated fields, so these must equal the current ones."""
    for old, new in _BOUNDS_BY_OLD.items():
        if statistics.get(old, statistics.get(new)) != statistics.get(new):
            raise UnusualLayout(f"{leaf.name} has two ranges of values")
    if (5 in statistics) != (6 in statistics) or (1 in statistics) != (2 in statistics):
        raise UnusualLayout(f"{leaf.name} has half a range of values")
    odd = [statistics[field] for field in (1, 2, 5, 6) if field in statistics]
    if leaf.size is not None and any(len(each) != leaf.size for each in odd):
        raise UnusualLayout(f"{leaf.name} has a range of another type")
