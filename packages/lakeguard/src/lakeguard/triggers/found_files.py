"""Names of files that a glob matches below a folder: each folder is listed once, no file opened.

A file whose name begins with ``_`` or ``.`` is still being written, or a marker of another tool,
and so is all that lies in a folder of such a name, unless the glob begins that name the same way.
A link may lead out of the folder and is not followed. A name that is no text cannot be told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import has_magic
from stat import S_ISDIR, S_ISREG

_MARKERS = ("_", ".")
_ANY_DEPTH = "**"
Entry = tuple[str, bool]
"""A name in a folder, and whether it is a folder itself."""


def matching_files(root: str, pattern: str) -> list[str]:
    """Paths below the root, in order. What cannot be listed now is not there now."""
    search = _Search(root, tuple(pattern.split("/")))
    return sorted(search.below("", frozenset({0})))


@dataclass(frozen=True)
class _Search:
    root: str
    steps: tuple[str, ...]

    def below(self, folder: str, reached: frozenset[int]) -> Iterator[str]:
        """Files below a folder that the steps from those ``reached`` on lead to."""
        open_steps = self._with_none_between(reached)
        for name, is_folder in self._entries(folder, open_steps):
            path = f"{folder}{name}"
            if is_folder:
                onward = frozenset(self._onward(name, open_steps))
                if onward:
                    yield from self.below(f"{path}/", onward)
            elif not name.startswith(_MARKERS) and self._is_found(name, open_steps):
                yield path

    def _with_none_between(self, reached: frozenset[int]) -> list[int]:
        """``**`` stands for no folder, too."""
        found = set(reached)
        for step in sorted(reached):
            while step < len(self.steps) and self.steps[step] == _ANY_DEPTH:
                step += 1
                found.add(step)
        return sorted(step for step in found if step < len(self.steps))

    def _entries(self, folder: str, open_steps: list[int]) -> Iterator[Entry]:
        names = [self.steps[step] for step in open_steps]
        if any(has_magic(name) for name in names):
            return _listed(f"{self.root}/{folder}")
        return _looked_up(f"{self.root}/{folder}", names)

    def _onward(self, name: str, open_steps: list[int]) -> Iterator[int]:
        for step in open_steps:
            text = self.steps[step]
            if name.startswith(_MARKERS) and name[0] != text[0]:
                continue
            if text == _ANY_DEPTH:
                yield step
            elif step + 1 < len(self.steps) and _is_like(name, text):
                yield step + 1

    def _is_found(self, name: str, open_steps: list[int]) -> bool:
        last = len(self.steps) - 1
        text = self.steps[last]
        return last in open_steps and (text == _ANY_DEPTH or _is_like(name, text))


def _is_like(name: str, text: str) -> bool:
    return fnmatchcase(name, text) if has_magic(text) else name == text


def _listed(folder: str) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return
    yield from (entry for entry in found if _is_text(entry[0]))


def _looked_up(folder: str, names: list[str]) -> Iterator[Entry]:
    for name in dict.fromkeys(names):
        try:
            mode = os.lstat(f"{folder}{name}").st_mode
        except OSError:
            continue
        if S_ISDIR(mode) or S_ISREG(mode):
            yield name, S_ISDIR(mode)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
