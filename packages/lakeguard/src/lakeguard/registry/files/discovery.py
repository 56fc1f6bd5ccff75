"""Finds definition files and reports misplaced ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lakeguard.registry.kinds import FOLDERS
from lakeguard.registry.text.definition_positions import DEFINITIONS
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import Place, UnknownReference, WrongValue


class DefinitionFile(NamedTuple):
    folder: str
    name: str
    """The file name without its extension."""
    file: str
    """Relative to the project, with forward slashes."""
    path: str


def definition_files(root: Path, findings: Findings) -> Iterator[DefinitionFile]:
    """Definition files ordered by folder and name; misplaced files are reported."""
    top = root / DEFINITIONS
    if not top.is_dir():
        place = Place(file=DEFINITIONS)
        findings.add(UnknownReference(place, kind="folder", name=DEFINITIONS, hint=""))
        return
    known: list[str] = []
    for entry in _entries(top):
        file = f"{DEFINITIONS}/{entry.name}"
        if _leaves(entry, root):
            _misplaced(findings, file, "is a link that leaves the project")
        elif entry.is_dir():
            known += _folder(entry.name, file, findings)
        elif _is_yaml(entry.name):
            _misplaced(findings, file, f"belongs in a folder: {', '.join(FOLDERS)}")
    for folder in FOLDERS:
        if folder in known:
            yield from _files(root, folder, findings)


def _folder(name: str, file: str, findings: Findings) -> list[str]:
    if name in FOLDERS:
        return [name]
    _misplaced(findings, file, "not a definitions folder", did_you_mean(name, FOLDERS))
    return []


def _files(root: Path, folder: str, findings: Findings) -> Iterator[DefinitionFile]:
    for entry in _entries(root / DEFINITIONS / folder):
        file = f"{DEFINITIONS}/{folder}/{entry.name}"
        stem, _, ending = entry.name.rpartition(".")
        if _leaves(entry, root):
            _misplaced(findings, file, "is a link that leaves the project")
        elif entry.is_dir():
            _misplaced(findings, file, "nested folders are not supported here")
        elif ending == "yaml":
            yield DefinitionFile(folder, stem, file, entry.path)
        elif _is_yaml(entry.name):
            _misplaced(findings, file, "files must end in .yaml", f"; rename it to {stem}.yaml")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Hidden entries belong to editors and version control."""
    with os.scandir(folder) as found:
        return sorted((e for e in found if not e.name.startswith(".")), key=lambda e: e.name)


def _is_yaml(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml"))


def _leaves(entry: os.DirEntry[str], root: Path) -> bool:
    return entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root.resolve())


def _misplaced(findings: Findings, file: str, problem: str, hint: str = "") -> None:
    name = file.rpartition("/")[2]
    findings.add(WrongValue(Place(file=file), key=name, problem=problem, hint=hint))
