"""The files of a project that say what its data is; never its settings, nor its data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lakeguard_sdk.errors import WrongArgument

DEFINITIONS = "definitions"
_CODE = (".sql", ".py")
_MARKS = ("_delta_log", "pyvenv.cfg")
"""What a folder holds that is a table, or an installed Python."""


def project_files(project: Path) -> dict[str, bytes]:
    """All below ``definitions``, and every file of SQL and Python, by path from the project.

    Left out are hidden folders, those named ``tests``, tables and installed Pythons. The settings
    stay behind: they may name the lake and the database of others.
    """
    if not (project / DEFINITIONS).is_dir():
        raise WrongArgument(
            method="lakeguard_project",
            given=f"{project}, which has no folder {DEFINITIONS}",
            call="name the folder of lakeguard.toml, from the folder of pytest's settings",
        )
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in _wanted(project)}


def _wanted(project: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(project):
        folder = Path(top)
        folders[:] = sorted(name for name in folders if _is_looked_into(folder / name))
        defining = folder.relative_to(project).parts[:1] == (DEFINITIONS,)
        for name in sorted(names):
            if defining or name.endswith(_CODE):
                yield folder / name


def _is_looked_into(folder: Path) -> bool:
    if folder.name.startswith((".", "__")) or folder.name == "tests":
        return False
    return not any((folder / mark).exists() for mark in _MARKS)
