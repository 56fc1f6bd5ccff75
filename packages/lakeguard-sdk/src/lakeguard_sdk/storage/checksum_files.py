"""Checksum files: Hadoop, and so Spark, writes ``.NAME.crc`` beside a local file ``NAME``, and
refuses to read the file if the two do not agree. Other engines ignore them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path

from lakeguard_sdk.storage.storage import is_remote, join, local_path

_MAGIC = b"crc\0"
_HEADER = 8
_SUM = 4
_LARGEST_PART = 1 << 20
_SUMS_AT_ONCE = 4096


def is_checksum_file(name: str) -> bool:
    return name.startswith(".") and name.endswith(".crc")


def checksum_name(name: str) -> str:
    """The name of the checksum file of a file."""
    return f".{name}.crc"


def checksum_file(location: str) -> Path:
    """Where the checksum file of a local file would be."""
    path = Path(local_path(location))
    return path.with_name(checksum_name(path.name))


def wrong_checksum_file(location: str, *, whole: bool) -> str | None:
    """Why Spark could not read the file because of its checksum file, or None; also None if there
    is no file.

    Unless ``whole``, only the length and the first and last sum are compared.
    """
    if is_remote(location):  # Hadoop checks no sums there
        return None
    place = checksum_file(location)
    try:
        sums = place.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        sums = b""
    try:
        agrees = _agrees(local_path(location), sums, whole)
    except FileNotFoundError:
        agrees = True
    if agrees:
        return None
    return f"its checksum file {place.name} is wrong, so Spark cannot read it; undo removes it"


def remove_wrong_checksum_files(
    location: str, paths: Iterable[str], whole: Container[str]
) -> list[str]:
    """Remove those of the files of a table that do not agree with their file; returns the files.

    Files in ``whole`` are read to their end.
    """
    if is_remote(location):
        return []
    there = (path for path in paths if os.path.isfile(local_path(join(location, path))))
    wrong = [
        path
        for path in there
        if wrong_checksum_file(join(location, path), whole=path in whole) is not None
    ]
    for path in wrong:
        with suppress(OSError):  # a folder of that name is reported as damage
            checksum_file(join(location, path)).unlink()
    return wrong


def _agrees(path: str, sums: bytes, whole: bool) -> bool:
    part = int.from_bytes(sums[_SUM:_HEADER], "big")
    if sums[:_SUM] != _MAGIC or not 0 < part <= _LARGEST_PART:
        return False
    with open(path, "rb", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        count = -(-size // part)
        if len(sums) != _HEADER + count * _SUM:
            return False
        chosen = range(count) if whole else sorted({0, count - 1} if count else ())
        step = _SUMS_AT_ONCE if whole else 1
        for first in chosen[::step]:
            data = os.pread(file.fileno(), part * step, first * part)
            found = b"".join(
                zlib.crc32(data[at : at + part]).to_bytes(_SUM, "big")
                for at in range(0, len(data), part)
            )
            start = _HEADER + first * _SUM
            if sums[start : start + len(found)] != found:
                return False
    return True
