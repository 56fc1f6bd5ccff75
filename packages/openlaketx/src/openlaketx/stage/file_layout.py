"""Checks that every reader finds the same rows in a Parquet file from an untrusted process.

The format is redundant: where a column chunk begins, how large it is, what type a column has.
Readers rely on different places, so a file can show one set of rows to the measures and another to
Spark. Closed-world: a file must have the one layout that Spark writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from openlaketx.engine.compact_thrift import (
    BOUNDS,
    PAGE,
    PLACES,
    CompactReader,
    Fields,
    NotThrift,
)
from openlaketx.engine.repetition_levels import starts
from openlaketx.stage.file_footer import Leaf, UnusualLayout, opened, part, read_footer

_UNKNOWN_CHUNK = {1: "is in another file"}
_UNKNOWN_DATA = {10: "has index pages", 14: "has a bloom filter"}
_UNCOMPRESSED, _SNAPPY = 0, 1
_PLAIN, _DICTIONARIES, _RUN_LENGTHS = 0, (2, 8), 3
_OF_DICTIONARIES = (0, 2)
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_HEADER = 1024
"""Most page headers fit into so many bytes."""


class PageIndex(NamedTuple):
    """The page index of a column chunk, by which readers skip pages."""

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
"""By row group and leaf; None without an index, and for columns in arrays and maps."""


def checked_layout(location: str) -> Indexes:
    """The page indexes, which the caller must compare with the rows. Raises ``UnusualLayout`` if
    readers may find different rows in the file."""
    with opened(location) as file:
        footer = read_footer(file)
        end, indexes = footer.begin, []
        for group in footer.groups:
            end, found = _check_group(file, group, footer.leaves, (end, footer.end))
            indexes.append(found)
        return indexes


# Row groups and their chunks: one after the other, without gaps inside.


def _check_group(
    file: BinaryIO, group: Fields, leaves: list[Leaf], within: tuple[int, int]
) -> tuple[int, list[PageIndex | None]]:
    """The end of the group, and its page indexes."""
    end, last = within
    if len(group[1]) != len(leaves):
        raise UnusualLayout("a row group has other columns")
    begin, packed, indexes = 0, 0, []
    for chunk, leaf in zip(group[1], leaves, strict=True):
        _refuse(chunk, _UNKNOWN_CHUNK, leaf)
        data = chunk[3]
        _refuse(data, _UNKNOWN_DATA, leaf)
        if tuple(data[3]) != leaf.path or data[1] != leaf.type:
            raise UnusualLayout(f"{leaf.name} is at the position of another column")
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
    content: int
    end: int
    kind: int
    values: int
    encoding: int
    unpacked: int
    """The uncompressed size of the content."""

    @property
    def is_packed(self) -> bool:
        return self.unpacked != self.end - self.content


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
        raise UnusualLayout(f"{leaf.name} has a dictionary that its footer does not list")
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
        yield _Page(start, start + length, after, head[1], data[1], data[2], head[2])
        start = after


def _header(file: BinaryIO, start: int, end: int) -> tuple[Fields, int]:
    """The header of the page at ``start``, and its length."""
    length = min(_HEADER, end - start)
    while True:
        reader = CompactReader(part(file, start, length))
        try:
            return reader.struct(PAGE), reader.at
        except NotThrift:
            if length == end - start:
                raise
            length = min(length * 16, end - start)


def _check_encodings(data: Fields, shown: list[_Page], leaf: Leaf) -> None:
    """Readers skip row groups by the dictionary if one of two lists says that all pages use it."""
    by_dictionary = {page.encoding in _DICTIONARIES for page in shown}
    listed = by_dictionary
    if 13 in data:
        listed = {stats[2] in _DICTIONARIES for stats in data[13] if stats[1] != _DICTIONARY_PAGE}
    lists_plain = by_dictionary == {True} or _PLAIN in data[2]
    if listed != by_dictionary or not lists_plain:
        raise UnusualLayout(f"{leaf.name} is not encoded as its footer says")


def _index(file: BinaryIO, chunk: Fields, leaf: Leaf, shown: list[_Page]) -> PageIndex | None:
    """The page index, which must locate exactly the pages of the chunk."""
    if 4 not in chunk:
        if 6 in chunk:
            raise UnusualLayout(f"{leaf.name} has half an index")
        return None
    places = CompactReader(part(file, chunk[4], chunk[5])).struct(PLACES)[1]
    rows = [page.values for page in shown]
    if leaf.repeated:
        rows = [_rows(file, page, leaf, chunk[3][4]) for page in shown]
    firsts = tuple(accumulate(rows[:-1], initial=0))
    expected = [
        (page.start, page.end - page.start, first)
        for page, first in zip(shown, firsts, strict=True)
    ]
    if [(place[1], place[2], place[3]) for place in places] != expected:
        raise UnusualLayout(f"{leaf.name} has an index of other pages")
    if 6 not in chunk:
        return None
    bounds = CompactReader(part(file, chunk[6], chunk[7])).struct(BOUNDS)
    lists = (bounds[1], bounds[2], bounds[3], bounds.get(5, ()))
    sizes = [len(each) for each in lists]
    if {*sizes[:3]} != {len(shown)} or sizes[3] not in (len(shown), 0):
        raise UnusualLayout(f"{leaf.name} has an index of other pages")
    empty, lowest, highest, nulls = map(tuple, lists)
    index = PageIndex(leaf.type, firsts, empty, lowest, highest, bounds[4], nulls)
    return None if leaf.repeated else index


def _rows(file: BinaryIO, page: _Page, leaf: Leaf, codec: int) -> int:
    """How many rows begin in a page of an array or map."""
    content = part(file, page.content, page.end - page.content)
    if codec == _SNAPPY:
        content = pa.decompress(content, page.unpacked, "snappy", asbytes=True)
    end = 4 + int.from_bytes(content[:4], "little")
    rows, begins = starts(content[4:end], leaf.repeated.bit_length(), page.values)
    if not begins:
        raise UnusualLayout(f"{leaf.name} has a page that begins inside a row")
    return rows
