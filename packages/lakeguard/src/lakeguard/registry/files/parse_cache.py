"""Cache of parsed definition files.

The key is a file's path, the hash of its bytes and the hash of the code it references. Only
valid definitions are cached; checks across files run every time. The cache may be deleted at
any time, and is ignored if damaged or written by another version of the code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

import lakeguard_sdk
from lakeguard import gate, registry
from lakeguard.registry.files.discovery import DefinitionFile
from lakeguard.registry.files.project_files import ProjectFiles
from lakeguard.registry.kinds import KINDS, hash_of
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definition,
    FromPython,
    FromSql,
    remember_hash,
)

STATE_FOLDER = ".lakeguard"
_NOUNS: dict[str, Any] = {kind.word: kind.noun for kind in KINDS}
_NO_CODE = "-"


class _CacheEntry(NamedTuple):
    """One line of the cache; the definition is parsed on demand."""

    file: str
    data_hash: str
    code_hash: str
    definition_hash: str
    kind: str
    text: str


class ParsedFiles:
    """The cache of one project; disabled without a state folder."""

    def __init__(self, project: Path, files: ProjectFiles) -> None:
        self._files = files
        self._path = project / STATE_FOLDER / "cache" / "definitions"
        self._usable = (project / STATE_FOLDER).is_dir()
        self._known = {entry.file: entry for entry in _read(self._path)} if self._usable else {}
        self._now: list[_CacheEntry] = []
        self._changed = False

    def find(self, found: DefinitionFile, data: bytes) -> Definition | None:
        """The cached definition of this file, or None."""
        entry = self._known.get(found.file)
        if entry is None or entry.data_hash != _digest(data):
            return None
        try:
            definition: Definition = _NOUNS[entry.kind].model_validate_json(entry.text)
        except (KeyError, ValueError):
            return None
        if self._code_hash(definition) != entry.code_hash:
            return None
        if isinstance(definition, DatasetDefinition):
            remember_hash(definition, entry.definition_hash)
        self._now.append(entry)
        return definition

    def add(self, found: DefinitionFile, data: bytes, definition: Definition) -> None:
        """Cache a valid definition."""
        if not self._usable or not found.file.isprintable():
            return
        self._changed = True
        self._now.append(
            _CacheEntry(
                found.file,
                _digest(data),
                self._code_hash(definition),
                hash_of(definition),
                definition.kind,
                definition.model_dump_json(),
            )
        )

    def save(self) -> None:
        """Write the cache atomically; a read-only folder is ignored."""
        if not self._changed and len(self._now) == len(self._known):
            return
        body = "".join("\t".join(entry) + "\n" for entry in self._now).encode()
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            temporary.write_bytes(f"{_semantics()} {_digest(body)}\n".encode() + body)
            os.replace(temporary, self._path)

    def _code_hash(self, definition: Definition) -> str:
        build = getattr(definition, "build", None)
        if not isinstance(build, FromSql | FromPython):
            return _NO_CODE
        data = self._files.bytes_of(build.file)
        return "" if data is None else _digest(data)


def _read(path: Path) -> Iterator[_CacheEntry]:
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return
    if head != f"{_semantics()} {_digest(body)}".encode():
        return
    for line in body.decode().split("\n")[:-1]:
        yield _CacheEntry(*line.split("\t", 5))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@cache
def _semantics() -> str:
    """Hash of all code that interprets files; a new version invalidates the cache."""
    packages = ("lakeguard", "lakeguard-sdk", "pydantic", "PyYAML", "sqlglot")
    found = hashlib.sha256()
    for package in packages:  # as text: parsing it takes ten times as long
        installed = distribution(package)
        found.update((installed.read_text("METADATA") or installed.version).encode())
    for room in (gate, registry, lakeguard_sdk):
        for folder, _, names in sorted(os.walk(Path(str(room.__file__)).parent)):
            for name in sorted(names):
                if name.endswith(".py"):
                    found.update(f"\n{name} ".encode())
                    found.update(Path(folder, name).read_bytes())
    return found.hexdigest()
