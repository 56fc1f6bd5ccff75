"""Text files as bytes and lines, decompressed if their name ends in ``.gz``."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, cast

GZIP = ".gz"
LONGEST_LINE = 64 << 20
"""Maximum characters of a line."""


class TextProblem(ValueError):
    """Why a file cannot be read as text."""


@contextmanager
def opened_bytes(path: str) -> Iterator[IO[bytes]]:
    """``TextProblem`` if a gzip file is damaged or truncated."""
    try:
        with _open(path, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise TextProblem("damaged or truncated gzip file") from None


@contextmanager
def opened_lines(path: str, codec: str, newline: str = "") -> Iterator[Iterator[str]]:
    """Lines with their line ends; an undecodable byte becomes a lone surrogate. Raises
    ``TextProblem`` for a line that is too long: a small gzip file may contain one that does not fit
    into memory."""
    with (
        opened_bytes(path) as file,
        io.TextIOWrapper(file, codec, "surrogateescape", newline) as text,
    ):
        yield _lines(text)


def _lines(text: IO[str]) -> Iterator[str]:
    for line in iter(partial(text.readline, LONGEST_LINE), ""):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise TextProblem(f"a line has more than {LONGEST_LINE:,} characters")
        yield line


@contextmanager
def writing_bytes(path: str) -> Iterator[IO[bytes]]:
    """A new file, compressed if its name ends in ``.gz``."""
    with _open(path, "xb") as file:
        yield file


def _open(path: str, mode: str) -> IO[bytes]:
    if path.endswith(GZIP):
        return cast("IO[bytes]", gzip.open(path, mode))
    return open(path, mode)
