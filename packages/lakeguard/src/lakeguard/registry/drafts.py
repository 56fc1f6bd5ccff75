"""Draft datasets: definitions in any file, not yet applied."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from lakeguard.registry.files.datasets import read_dataset
from lakeguard.registry.files.discovery import definition_files
from lakeguard.registry.files.project_files import ProjectFiles
from lakeguard.registry.files.rule_catalog import read_catalogue_rule
from lakeguard.registry.kinds import KINDS
from lakeguard.registry.macros import Macros
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_documents import read_document
from lakeguard.registry.text.yaml_nodes import Document
from lakeguard.registry.validation.kind_invariants import definition_errors
from lakeguard_sdk.errors import NothingDrafted
from lakeguard_sdk.model.definitions import CatalogueRule, DatasetDefinition

_SEPARATOR = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_CONTENT = re.compile(rb"^[ \t]*[^#\s]", re.MULTILINE)
_OTHERS = frozenset(kind.word for kind in KINDS) - {"dataset"}
_OWN = ("dataset", "columns")
_LIKE = 0.7


def load_draft(path: Path, project: Path) -> tuple[DatasetDefinition, ...]:
    """The datasets of a file (one or several documents) or of a folder.

    InvalidDefinitions with every error. Catalogue rules and code come from the project. Other
    kinds of definitions are ignored; documents of no kind are errors.
    """
    findings = Findings()
    files, macros = ProjectFiles(project), Macros(_catalogue(project))
    read = [
        _dataset(_shown(file, project), data, findings, files, macros)
        for file in _files(path)
        for data in _documents(file.read_bytes())
    ]
    findings.raise_if_any()
    found = tuple(definition for definition in read if definition is not None)
    if not found:
        raise NothingDrafted(file=str(path))
    return found


def _dataset(
    name: str, data: bytes, findings: Findings, files: ProjectFiles, macros: Macros
) -> DatasetDefinition | None:
    document = read_document(name, data, findings)
    if document is None or _is_another(document):
        return None
    definition = read_dataset(document, findings, files, macros)
    if definition is not None:
        for error in definition_errors(definition, lambda _, at: document.locate(at)):
            findings.add(error)
    return definition


def _is_another(document: Document) -> bool:
    """Whether it clearly is another kind. Anything that resembles a dataset, even misspelt, is
    not: a silently ignored dataset would look like a passing test."""
    keys = document.root.keys
    if "job" in keys:
        return "columns" not in keys
    own = any(get_close_matches(key.casefold(), _OWN, cutoff=_LIKE) for key in keys)
    return not own and not _OTHERS.isdisjoint(keys)


def _files(path: Path) -> Iterator[Path]:
    """YAML files; hidden files and folders are ignored."""
    if not path.is_dir():
        yield path
        return
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if name.endswith((".yaml", ".yml")) and not name.startswith("."):
                yield Path(folder, name)


def _documents(data: bytes) -> Iterator[bytes]:
    """Each non-empty document, padded to keep its line numbers."""
    between = list(_SEPARATOR.finditer(data))
    starts = [0, *(found.end() for found in between)]
    ends = [*(found.start() for found in between), len(data)]
    for start, end in zip(starts, ends, strict=True):
        part = data[start:end]
        if not between or _CONTENT.search(part):
            yield b"\n" * data[:start].count(b"\n") + part


def _catalogue(project: Path) -> dict[str, CatalogueRule]:
    """Catalogue rules of the project; ``validate`` reports their errors."""
    findings = Findings()
    found = {}
    for file in definition_files(project, findings):
        if file.folder != "rules":
            continue
        document = read_document(file.file, Path(file.path).read_bytes(), findings)
        rule = None if document is None else read_catalogue_rule(document, findings)
        if rule is not None:
            found[rule.rule] = rule
    return found


def _shown(file: Path, project: Path) -> str:
    """Path for error messages, relative to the project if inside it."""
    whole, root = file.resolve(), project.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
