"""Text files as bytes and as lines, unpacked where their name ends in ``.gz``."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

GZIP = ".gz"


class TextProblem(ValueError):
    """A file cannot be read as text; says why."""


@contextmanager
def opened_bytes(path: str) -> Iterator[IO[bytes]]:
    """``TextProblem`` where a packed file is damaged or cut."""
    try:
        with _open(path, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise TextProblem("it is no whole gzip file") from None


@contextmanager
def opened_lines(path: str, codec: str, newline: str = "") -> Iterator[Iterator[str]]:
    """Lines with their ends, as they are; a byte that is no text comes as a lone surrogate."""
    with opened_bytes(path) as file:
        yield io.TextIOWrapper(file, codec, "surrogateescape", newline)


@contextmanager
def writing_bytes(path: str) -> Iterator[IO[bytes]]:
    """A new file, packed like its name."""
    with _open(path, "xb") as file:
        yield file


def _open(path: str, mode: str) -> IO[bytes]:
    if path.endswith(GZIP):
        return cast("IO[bytes]", gzip.open(path, mode))
    return open(path, mode)
