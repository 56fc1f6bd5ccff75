"""Reconstructs a glob pattern from the files a shell expanded it to."""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from lakeguard_sdk.errors import SourceNotInspectable
from lakeguard_sdk.storage.storage import LAKE_SCHEMES, below, is_below, is_remote, local_path

_VARIES = re.compile(r"([-_.]?)[-_.:T0-9]*\Z")
"""A date or number at the end of the common prefix, which may vary in later files."""
_NUMBERED = re.compile(r"[0-9]{4}[-_.]?[0-9]{2}(?:[-_.T:]?[0-9]+)*|[0-9]{5,}")
"""A date or a long number in the name of a file."""
_ADDRESS = re.compile(r"(jdbc:)?[A-Za-z][A-Za-z0-9+.-]*:/+")
_NO_FILE = (
    "it is a URL, and only files and folders can be inspected; download one file and add"
    " that, then replace path: by url: in the source's definition"
)


def source_path(words: Sequence[str], folder: Path, lake: str, *, exact: bool = False) -> str:
    """Path of a source: relative to the lake if the files are inside it, else absolute.

    Several words are files that a shell expanded from a pattern: the result is a pattern that
    matches exactly those here, and similar names later. So is one file with a date or a long number
    in its name, unless ``exact``. A pattern of an object store is taken as it is. URLs are refused.
    """
    if len(words) == 1 and words[0].partition("://")[0] in LAKE_SCHEMES:
        return below(words[0], lake) if is_below(words[0], lake) else words[0]
    for word in words:
        if _ADDRESS.match(word):
            raise SourceNotInspectable(pattern=word, reason=_NO_FILE)
    if len(words) > 1:
        path = _pattern(words, folder)
    else:
        path = words[0] if exact else _pattern_of_one(words[0], folder)
    full = Path(os.path.normpath(folder / path))
    if is_remote(lake) or not full.is_relative_to(local_path(lake)):
        return str(full)
    return str(full.relative_to(local_path(lake)))


def _pattern(files: Sequence[str], folder: Path) -> str:
    before = _beginning(files)
    after = _beginning([file[len(before) :][::-1] for file in files])[::-1]
    wide = (_VARIES.sub(r"\1", before), after.lstrip("0123456789"))
    for start, end in (wide, (before, after)):
        pattern = f"{glob.escape(start)}*{glob.escape(end)}"
        if set(glob.glob(pattern, root_dir=folder)) == set(files):
            return pattern
    place = os.path.commonpath([os.path.dirname(file) for file in files])
    ending = after[after.find(".") :] if "." in after else ""
    quoted = shlex.quote(os.path.join(glob.escape(place), f"*{ending}"))
    raise click.UsageError(
        "no single pattern matches exactly these files; quote it:"
        f" lakeguard source add NAME {quoted}"
    )


def _pattern_of_one(file: str, folder: Path) -> str:
    """The pattern that a shell may have expanded to this file; the file if there is none."""
    place = Path(file)
    numbered = _NUMBERED.search(place.name)
    if numbered is None or not (folder / file).is_file():
        return file
    start, end = place.name[: numbered.start()], place.name[numbered.end() :]
    pattern = str(place.parent / f"{glob.escape(start)}*{glob.escape(end)}")
    alone = glob.glob(pattern, root_dir=folder) == [os.path.normpath(file)]
    return pattern if alone else file


def _beginning(texts: Sequence[str]) -> str:
    """Their common prefix."""
    shared = 0
    for characters in zip(*texts, strict=False):
        if len(set(characters)) > 1:
            break
        shared += 1
    return texts[0][:shared]
