"""Whether every reader finds the same rows in a Parquet file that another process wrote.

The format says some things twice: where a column chunk begins, how large it is, what a column
means. Readers believe different ones, so a file can show one set of rows to the measures and
another to Spark. Closed-world: a file must say all of it in the one way that Spark writes it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lakeguard_sdk.storage.storage import readable_file
from openlaketx.engine.compact_thrift import (
    BOUNDS,
    FOOTER,
    PAGE,
    PLACES,
    CompactReader,
    Fields,
    NotThrift,
)

_MAGIC, _END = b"PAR1", 8
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_WRITER, _NEW_CALENDAR = b"org.apache.spark.version", b"3.1.0"
"""Spark compares versions as texts, too."""
_UNKNOWN_CHUNK = {1: "is in another file"}
_UNKNOWN_DATA = {10: "has index pages", 14: "has a bloom filter"}
_UNCOMPRESSED, _SNAPPY = 0, 1
_PLAIN, _DICTIONARIES, _RUN_LENGTHS = 0, (2, 8), 3
_OF_DICTIONARIES = (0, 2)
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_HEADER = 1024
"""Bytes that most page headers fit in."""
_UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError,
)  # fmt: skip


class UnusualLayout(ValueError):
    """Readers may differ about the file."""


class PageIndex(NamedTuple):
    """What a column chunk says of its pages; readers that filter skip pages by it."""

    type: int
    firsts: tuple[int, ...]
    """The first row of each page."""
    empty: tuple[bool, ...]
    """Whether all rows are NULL."""
    lowest: tuple[bytes, ...]
    highest: tuple[bytes, ...]
    order: int
    """1 if the pages ascend, 2 if they descend."""
    nulls: tuple[int, ...]


Indexes = list[list[PageIndex | None]]
"""By row group and leaf; None without an index, and for a column inside an array or map."""


def checked_layout(location: str) -> Indexes:
    """Raises ``UnusualLayout`` if readers may find other rows in the file than its footer and pages
    show; the indexes of pages are still to be compared with the rows."""
    try:
        with _opened(location) as file:
            return _check(file)
    except UnusualLayout as error:
        raise UnusualLayout(f"readers may find other rows in it: {error}") from None
    except _UNREADABLE as error:  # fields that are missing, or of another type
        message = f"it is no plain Parquet file: {type(error).__name__} {error}"
        raise UnusualLayout(message.rstrip()) from None


@contextmanager
def _opened(location: str) -> Iterator[BinaryIO]:
    found = readable_file(location)
    with Path(found).open("rb") if isinstance(found, str) else found as file:
        yield file


def _check(file: BinaryIO) -> Indexes:
    size = file.seek(0, io.SEEK_END)
    tail = _part(file, max(0, size - _END), _END)
    length = int.from_bytes(tail[:4], "little")
    start = size - _END - length
    if tail[4:] != _MAGIC or start < len(_MAGIC):
        raise NotThrift("it has no footer")
    reader = CompactReader(_part(file, start, length))
    footer = reader.struct(FOOTER)
    if reader.at != length:
        raise UnusualLayout("its footer has two parts")
    _check_metadata(footer)
    leaves = list(_leaves(footer[2]))
    end, indexes = len(_MAGIC), []
    for group in footer[4]:
        end, found = _check_group(file, group, leaves, (end, start))
        indexes.append(found)
    if sum(group[3] for group in footer[4]) != footer[3]:
        raise UnusualLayout("its row groups have another number of rows")
    return indexes


def _part(file: BinaryIO, start: int, length: int) -> bytes:
    if start < 0 or not 0 <= length <= file.seek(0, io.SEEK_END) - start:
        raise NotThrift("it ends too early")
    file.seek(start)
    return file.read(length)


def _check_metadata(footer: Fields) -> None:
    pairs = {pair[1]: pair.get(2, b"") for pair in footer.get(5, ())}
    written_by = pairs.get(_WRITER, _NEW_CALENDAR)
    if any(name in pairs for name in _OLD_CALENDAR) or written_by < _NEW_CALENDAR:
        raise UnusualLayout("its dates use the legacy Julian calendar")


# Columns: the type is said by a converted type, which is older, and by a logical one.

_STRING, _MAP, _LIST, _ENUM, _DECIMAL, _DATE, _TIMESTAMP, _INTEGER, _JSON = (
    1, 2, 3, 4, 5, 6, 8, 10, 12,
)  # fmt: skip
_CONVERTED = {_STRING: 0, _MAP: 1, _LIST: 3, _ENUM: 4, _DECIMAL: 5, _DATE: 6, _JSON: 19}
_UNITS = {1: 9, 2: 10}
_SIGNED = {8: 15, 16: 16, 32: 17, 64: 18}
_UNSIGNED = {8: 11, 16: 12, 32: 13, 64: 14}
_OPTIONAL, _REPEATED = 1, 2
_INNER = {_MAP: ("key_value", 2), _LIST: ("list", 1)}
"""The repeated group inside a map and a list, and how many fields it has."""


class Leaf(NamedTuple):
    path: tuple[bytes, ...]
    type: int
    optional: int
    """How many groups on the way may be NULL or empty."""
    repeated: int

    @property
    def name(self) -> str:
        return b".".join(self.path).decode(errors="replace")


def _leaves(elements: list[Fields]) -> Iterator[Leaf]:
    """All columns, from the list of elements, in which a group precedes its fields."""
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
            yield Leaf(here, element[1], *now)
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
        raise UnusualLayout("it has columns that belong nowhere")


def _meaning(element: Fields, path: tuple[bytes, ...]) -> int | None:
    """The number of the logical type; both ways of saying it must agree."""
    logical: Mapping[int, Fields] = element.get(10, {})
    converted = element.get(6)
    if not logical:
        by_converted = {old: new for new, old in _CONVERTED.items()}
        return by_converted.get(converted) if converted is not None else None
    ((kind, details),) = logical.items()
    if kind == _DECIMAL and (details[1], details[2]) != (element.get(7, 0), element.get(8)):
        raise UnusualLayout(f"{_name(path)} is two kinds of decimal")
    wanted: tuple[int | None, ...] = (_CONVERTED.get(kind),)
    if kind == _TIMESTAMP:
        wanted = (_UNITS.get(next(iter(details[2]))), *(() if details[1] else (None,)))
    elif kind == _INTEGER:
        wanted = ((_SIGNED if details[2] else _UNSIGNED).get(details[1]),)
    if converted not in wanted:
        raise UnusualLayout(f"{_name(path)} is of two types")
    return kind


def _name(path: tuple[bytes, ...]) -> str:
    return b".".join(path).decode(errors="replace")


# Row groups and their chunks: one after the other, without gaps inside.


def _check_group(
    file: BinaryIO, group: Fields, leaves: list[Leaf], within: tuple[int, int]
) -> tuple[int, list[PageIndex | None]]:
    """The end of the group, and its indexes."""
    end, last = within
    if len(group[1]) != len(leaves):
        raise UnusualLayout("a row group has other columns")
    begin, packed, indexes = 0, 0, []
    for chunk, leaf in zip(group[1], leaves, strict=True):
        _refuse(chunk, _UNKNOWN_CHUNK, leaf)
        data = chunk[3]
        _refuse(data, _UNKNOWN_DATA, leaf)
        if tuple(data[3]) != leaf.path or data[1] != leaf.type:
            raise UnusualLayout(f"{leaf.name} is in the place of another column")
        start = data.get(11, data[9])
        if start < end or data[7] < 0 or start + data[7] > last:
            raise UnusualLayout(f"{leaf.name} overlaps other bytes")
        end = start + data[7]
        begin = begin or start
        packed += data[7]
        indexes.append(_check_pages(file, chunk, leaf, group[3]))
    if group.get(6, packed) != packed or group.get(5, begin) not in (0, begin):
        raise UnusualLayout("a row group has another size or place than its columns")
    return end, indexes


def _refuse(found: Fields, unknown: Mapping[int, str], leaf: Leaf) -> None:
    for number in found.keys() & unknown.keys():
        raise UnusualLayout(f"{leaf.name} {unknown[number]}")


@dataclass(frozen=True)
class _Page:
    start: int
    end: int
    kind: int
    values: int
    encoding: int
    is_packed: bool


def _check_pages(file: BinaryIO, chunk: Fields, leaf: Leaf, rows: int) -> PageIndex | None:
    data = chunk[3]
    if data[4] not in (_UNCOMPRESSED, _SNAPPY):
        raise UnusualLayout(f"{leaf.name} is compressed in an unusual way")
    start = data.get(11, data[9])
    pages = list(_pages(file, start, start + data[7], leaf))
    dictionary = [page for page in pages if page.kind == _DICTIONARY_PAGE]
    shown = pages[len(dictionary) :]
    if pages[: len(dictionary)] != dictionary or len(dictionary) != (11 in data):
        raise UnusualLayout(f"{leaf.name} has a dictionary in an unusual place")
    if not shown or shown[0].start != data[9]:
        raise UnusualLayout(f"{leaf.name} begins at two places")
    encodings = {_PLAIN, *(_DICTIONARIES if dictionary else ())}
    odd = any(page.encoding not in encodings for page in shown)
    if odd or any(page.encoding not in _OF_DICTIONARIES for page in dictionary):
        raise UnusualLayout(f"{leaf.name} is encoded in an unusual way")
    if data[4] == _UNCOMPRESSED and any(page.is_packed for page in pages):
        raise UnusualLayout(f"{leaf.name} has pages of two sizes")
    if bool(dictionary) != bool(set(data[2]) & {*_DICTIONARIES}):
        raise UnusualLayout(f"{leaf.name} has a dictionary that its footer does not tell of")
    _check_encodings(data, shown, leaf)
    values = sum(page.values for page in shown)
    if values != data[5] or (not leaf.repeated and values != rows):
        raise UnusualLayout(f"{leaf.name} has another number of values")
    return _index(file, chunk, leaf, shown)


def _pages(file: BinaryIO, start: int, end: int, leaf: Leaf) -> Iterator[_Page]:
    while start < end:
        head, length = _header(file, start, end)
        data = head.get(5) if head[1] == _DATA_PAGE else head.get(7)
        if head[1] not in (_DATA_PAGE, _DICTIONARY_PAGE) or data is None:
            raise UnusualLayout(f"{leaf.name} has pages of another kind")
        if head[1] == _DATA_PAGE:
            levels = ((data[3], leaf.optional), (data[4], leaf.repeated))
            if any(kind != _RUN_LENGTHS and most for kind, most in levels):
                raise UnusualLayout(f"{leaf.name} has levels of another kind")
        after = start + length + head[3]
        if head[3] < 0 or after > end:
            raise UnusualLayout(f"{leaf.name} has a page that ends elsewhere")
        yield _Page(start, after, head[1], data[1], data[2], head[2] != head[3])
        start = after


def _header(file: BinaryIO, start: int, end: int) -> tuple[Fields, int]:
    """The header of the page at ``start``, and its length."""
    length = min(_HEADER, end - start)
    while True:
        reader = CompactReader(_part(file, start, length))
        try:
            return reader.struct(PAGE), reader.at
        except NotThrift:
            if length == end - start:
                raise
            length = min(length * 16, end - start)


def _check_encodings(data: Fields, shown: list[_Page], leaf: Leaf) -> None:
    """Readers skip row groups by a dictionary that all pages are said to use."""
    told = {stats[2] in _DICTIONARIES for stats in data.get(13, ()) if stats[1] == _DATA_PAGE}
    if told and told != {page.encoding in _DICTIONARIES for page in shown}:
        raise UnusualLayout(f"{leaf.name} is encoded in another way than its footer says")


def _index(file: BinaryIO, chunk: Fields, leaf: Leaf, shown: list[_Page]) -> PageIndex | None:
    """Readers that filter rows find pages by their index."""
    if 4 not in chunk:
        if 6 in chunk:
            raise UnusualLayout(f"{leaf.name} has half an index")
        return None
    places = CompactReader(_part(file, chunk[4], chunk[5])).struct(PLACES)[1]
    firsts = tuple(accumulate((page.values for page in shown[:-1]), initial=0))
    if leaf.repeated:  # pages do not tell their rows
        firsts = (0,) * len(shown)
        places = [{**place, 3: 0} for place in places]
    expected = [
        (page.start, page.end - page.start, first)
        for page, first in zip(shown, firsts, strict=True)
    ]
    if [(place[1], place[2], place[3]) for place in places] != expected:
        raise UnusualLayout(f"{leaf.name} has an index of other pages")
    if 6 not in chunk:
        return None
    told = CompactReader(_part(file, chunk[6], chunk[7])).struct(BOUNDS)
    lists = (told[1], told[2], told[3], told.get(5, ()))
    sizes = [len(each) for each in lists]
    if {*sizes[:3]} != {len(shown)} or sizes[3] not in (len(shown), 0):
        raise UnusualLayout(f"{leaf.name} has an index of other pages")
    empty, lowest, highest, nulls = map(tuple, lists)
    index = PageIndex(leaf.type, firsts, empty, lowest, highest, told[4], nulls)
    return None if leaf.repeated else index
