"""Which files of a source a run reads, and the manifest that the version will keep of them."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.evidence import SourceFile, SourcePosition
from lakeguard_sdk.storage import Storage, join, local_path
from lakeguard_sdk.words import LoadType

_MARKERS = ("_", ".")


@dataclass(frozen=True)
class Selection:
    """The files to read now, as they were before reading, and the position after them."""

    source: str
    dataset: str
    root: str
    files: tuple[SourceFile, ...]
    position: SourcePosition

    def location(self, file: SourceFile) -> str:
        return file.path if Path(file.path).is_absolute() else join(self.root, file.path)

    @property
    def locations(self) -> list[str]:
        return [self.location(file) for file in self.files]

    def unreadable(self, reason: str) -> SourceUnreadable:
        return SourceUnreadable(source=self.source, reason=reason, dataset=self.dataset)

    def confirm(self, storage: Storage) -> None:
        """Raises if a file is not, byte count and time, what it was before reading."""
        for file in self.files:
            if not storage.exists(self.location(file)):
                raise self.unreadable(f"{file.path} disappeared while it was being read")
            if not _unmoved(_facts(storage, self.location(file), file.path), file):
                raise self.unreadable(f"{file.path} changed while it was being read")


def select_files(
    *,
    source: str,
    dataset: str,
    pattern: str,
    root: str,
    load: LoadType,
    position: SourcePosition | None,
    storage: Storage,
) -> Selection:
    """All files of the glob for FULL; for APPEND those that the position does not know.

    Files whose name starts with ``_`` or ``.`` are markers of other tools and never read.
    """
    found = tuple(
        _facts(storage, path if Path(path).is_absolute() else join(root, path), path)
        for path in matching(pattern, root)
    )
    everything = Selection(source, dataset, root, found, SourcePosition(files=found))
    if not found and (load is LoadType.FULL or position is None):
        raise everything.unreadable(f"no file matches {pattern}")
    if load is LoadType.FULL:
        return everything
    return _new_files(everything, position or SourcePosition(), storage)


def matching(pattern: str, root: str) -> list[str]:
    """Paths of files, sorted; relative to the root if the pattern is."""
    base = local_path(root)
    paths = glob.glob(pattern, root_dir=base, recursive=True)
    return sorted(
        path
        for path in set(paths)
        if not Path(path).name.startswith(_MARKERS) and Path(base, path).is_file()
    )


def _new_files(everything: Selection, position: SourcePosition, storage: Storage) -> Selection:
    """Files that were archived since are fine; one that was read and has other content is not."""
    known = {file.path: file for file in position.files}
    for file in everything.files:
        if file.path in known and not _same(everything, file, known[file.path], storage):
            raise everything.unreadable(
                f"{file.path} changed after a version had read it, so it cannot be appended again:"
                " give changed data a new file name, or load the dataset FULL"
            )
    fresh = tuple(
        file.model_copy(update={"sha256": storage.sha256(everything.location(file))})
        for file in everything.files
        if file.path not in known
    )
    return Selection(
        everything.source,
        everything.dataset,
        everything.root,
        fresh,
        SourcePosition(files=_merged(position.files, fresh)),
    )


def _same(everything: Selection, file: SourceFile, known: SourceFile, storage: Storage) -> bool:
    """By size and time, or by content where a copy has another time."""
    if _unmoved(file, known):
        return True
    copied = file.size == known.size and bool(known.sha256)
    return copied and storage.sha256(everything.location(file)) == known.sha256


def _unmoved(file: SourceFile, other: SourceFile) -> bool:
    return (file.size, file.modified_ms) == (other.size, other.modified_ms)


def _merged(old: Sequence[SourceFile], new: Iterable[SourceFile]) -> tuple[SourceFile, ...]:
    return tuple(sorted([*old, *new], key=lambda file: file.path))


def _facts(storage: Storage, location: str, path: str) -> SourceFile:
    facts = storage.facts(location)
    return SourceFile(path=path, size=facts.size, modified_ms=facts.modified_ms)
