"""Access to the code files of builds, confined to the project."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from lakeguard.registry.text.characters import place_of_offset
from lakeguard.registry.text.fields import LONGEST_PATH, Fields
from lakeguard.registry.text.yaml_nodes import Scalar
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import Place, UnknownReference


class ProjectFiles:
    """Files below one root. A path that leaves it, by ``..`` or by a link, is refused."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, build: Fields, key: str, scalar: Scalar, file: str) -> bytes | None:
        """The content of the file, or None after reporting the error."""
        problem = path_problem(file, key)
        target = self._root if problem else (self._root / file).resolve()
        if problem is None and not target.is_relative_to(self._root):
            problem = "is a link that leaves the project"
        if problem is not None:
            build.wrong(scalar, key, problem)
            return None
        if not target.is_file():
            place = build.document.place(scalar)
            hint = did_you_mean(file, self._neighbours(target))
            build.add(UnknownReference(place, kind="file", name=file, hint=hint))
            return None
        return target.read_bytes()

    def bytes_of(self, file: str) -> bytes | None:
        """The content of a referenced file, or None if it cannot be read."""
        if all(path_problem(file, kind) is not None for kind in ENDINGS):
            return None
        target = (self._root / file).resolve()
        if not target.is_relative_to(self._root) or not target.is_file():
            return None
        return target.read_bytes()

    def _neighbours(self, target: Path) -> list[str]:
        folder = target.parent
        if not folder.is_dir() or not folder.is_relative_to(self._root):
            return []
        names = sorted(entry.name for entry in folder.iterdir() if entry.suffix == target.suffix)
        return [str((folder / name).relative_to(self._root)) for name in names]


ENDINGS = {"sql": ".sql", "python": ".py"}
"""File extension by key of ``build``."""
_EXAMPLES = {"sql": "sql/orders.sql", "python": "jobs/orders.py"}


def path_problem(text: str, kind: str) -> str | None:
    """The problem of a build file's path, or None."""
    path, example = PurePosixPath(text), _EXAMPLES[kind]
    if not text or not text.isprintable() or "\\" in text or len(text) > LONGEST_PATH:
        return f"write a path such as {example}"
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0:1]:
        return f"write a path inside the project, such as {example}"
    if path.suffix != ENDINGS[kind]:
        return f"write the path of a {ENDINGS[kind]} file"
    return None


def undecodable(file: str, data: bytes, error: UnicodeDecodeError) -> Place:
    """The place of the first byte that is not UTF-8."""
    before = data[: error.start].decode("utf-8-sig", "replace")
    line, column = place_of_offset(before + "?", len(before))
    return Place(file=file, line=line, column=column)
