"""From what a shell made of a pattern back to the pattern, relative to the lake."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

import click

from lakeguard_sdk.errors import NothingToLookAt

_VARIES = re.compile(r"([-_.]?)[-_.:T0-9]*\Z")
"""The end of what names have in common that a next file need not have: a date, a number."""
_ADDRESS = re.compile(r"(jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:/+")
_NO_FILE = (
    "it is an address, and only files and folders here are looked at; download one file and add"
    " that, then write url: in the place of path: in the source's definition"
)


def source_path(words: Sequence[str], folder: Path, lake: Path) -> str:
    """The path of a source: below the lake if that is where the files are, else absolute.

    Several words are files that a shell found for a pattern; the pattern is one that finds
    exactly those here, and leaves room for names yet to come. An address is no file.
    """
    for word in words:
        if _ADDRESS.match(word):
            raise NothingToLookAt(pattern=word, reason=_NO_FILE)
    path = words[0] if len(words) == 1 else _pattern(words, folder)
    full = Path(os.path.normpath(folder / path))
    return str(full.relative_to(lake)) if full.is_relative_to(lake) else str(full)


def _pattern(files: Sequence[str], folder: Path) -> str:
    before = _beginning(files)
    after = _beginning([file[len(before) :][::-1] for file in files])[::-1]
    wide = (_VARIES.sub(r"\1", before), after.lstrip("0123456789"))
    for start, end in (wide, (before, after)):
        pattern = f"{glob.escape(start)}*{glob.escape(end)}"
        if set(glob.glob(pattern, root_dir=folder)) == set(files):
            return pattern
    raise click.UsageError(
        "no one pattern finds exactly these files; write it in quotes, such as 'exports/*.csv'"
    )


def _beginning(texts: Sequence[str]) -> str:
    """What all of them begin with."""
    shared = 0
    for characters in zip(*texts, strict=False):
        if len(set(characters)) > 1:
            break
        shared += 1
    return texts[0][:shared]
