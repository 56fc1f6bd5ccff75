"""Selects the source files of a run, and updates the version's file manifest."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.storage.location import FileFacts, is_marker
from lakeguard_sdk.storage.object_names import matching_objects
from lakeguard_sdk.storage.reserved_places import reserved_among, reserved_source
from lakeguard_sdk.storage.run_folders import LANDING
from lakeguard_sdk.storage.run_folders import landed as landed_source
from lakeguard_sdk.storage.storage import Storage, is_remote, local_path, located, table_uri
from openlaketx.engine.delta_table import is_governed
from openlaketx.engine.known_files import KnownFiles


@dataclass(frozen=True)
class Selection:
    """Files to read, as they were before reading, and the resulting position."""

    source: str
    dataset: str
    root: str
    files: tuple[SourceFile, ...]
    position: SourcePosition
    places: Mapping[str, str] = field(default_factory=dict)
    """Location to read a file from, by path, if it is not the original one."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Origins of copies that this process reads, and a Spark on other machines does not."""
    landed: bool = False
    """Whether our own copies are read, which cannot change."""
    ordered: bool = False
    """Whether the order of the files matters."""

    def location(self, file: SourceFile) -> str:
        return self.places.get(file.path) or self.origin(file)

    def origin(self, file: SourceFile) -> str:
        return located(self.root, file.path)

    def spark_location(self, file: SourceFile) -> str:
        """Where Spark reads the file."""
        place = self.location(file)
        return self.copies.get(place, place)

    def unreadable(self, reason: str) -> SourceUnreadable:
        return SourceUnreadable(source=self.source, reason=reason, dataset=self.dataset)

    def confirm(self, storage: Storage) -> None:
        """Raises if a file was written since it was selected."""
        for file in () if self.landed else self.files:
            self.confirm_file(file, storage)

    def confirm_file(self, file: SourceFile, storage: Storage) -> None:
        if not storage.exists(self.origin(file)):
            raise self.unreadable(f"{file.path} disappeared while it was being read")
        if _source_file(storage.facts(self.origin(file)), file.path).state != file.state:
            raise self.unreadable(f"{file.path} changed while it was being read")

    def replaced(self, files: tuple[SourceFile, ...], places: Mapping[str, str]) -> Selection:
        """The selection with updated files, in the position too."""
        merged = _merged(self.position.files, files)
        position = self.position.model_copy(update={"files": merged})
        return replace(self, files=files, position=position, places=places, landed=True)


def select_files(
    *,
    source: str,
    dataset: str,
    pattern: str,
    root: str,
    load: LoadType,
    known: KnownFiles | None,
    storage: Storage,
) -> Selection:
    """All files of the glob, or the unread ones if the load reads new rows only.

    Files are identified by path, not by time. A file changed after it was read is read again,
    except by APPEND, which would duplicate its rows. A PARTITION load with a new file reads all
    files, because a partition may span several. Files whose name starts with ``_`` or ``.`` are
    markers of other tools and are ignored. Files inside a governed table, or of LakeGuard itself,
    are refused.
    """
    found = tuple(_found(storage, pattern, root))
    paths = [file.path for file in found]
    everything = Selection(source, dataset, root, found, SourcePosition(files=found))
    if problem := reserved_problem(pattern, paths, root):
        raise everything.unreadable(problem)
    if not found and (load not in NEW_ROWS_ONLY or known is None):
        raise everything.unreadable(f"no file matches {located(root, pattern)}")
    if load not in NEW_ROWS_ONLY:
        return everything
    return _new_files(everything, known, load, storage)


def files_read_before(everything: Selection, known: KnownFiles, storage: Storage) -> Selection:
    """The files that were read before, in their current state; fails if one is missing."""
    found = {file.path: file for file in everything.files}
    paths = sorted(file.path for file in known.every())
    gone = next((path for path in paths if path not in found), None)
    if gone is not None:
        raise everything.unreadable(
            f"{gone}, which was read before, is gone, so its rows cannot be rebuilt"
        )
    files = tuple(
        found[path].model_copy(update={"sha256": storage.sha256(everything.location(found[path]))})
        for path in paths
    )
    return replace(everything, files=files, position=SourcePosition(files=files))


def matching(pattern: str, root: str) -> list[str]:
    """Sorted paths of matching files; relative to the root if the pattern is.

    Landed copies do not match a wildcard: they would be read twice.
    """
    if is_remote(located(root, pattern)):
        return list(_matching_objects(pattern, root))
    base = "/" if is_remote(root) else local_path(root)
    paths = glob.glob(pattern, root_dir=base, recursive=True)
    landed = Path(base, LANDING)
    meant = landed in Path(base, pattern).parents
    return sorted(
        path
        for path in set(paths)
        if not is_marker(Path(path).name)
        and (meant or landed not in Path(base, path).parents)
        and Path(base, path).is_file()
    )


def _matching_objects(pattern: str, root: str) -> dict[str, FileFacts]:
    found = matching_objects(root, pattern)
    return {path: facts for path, facts in found.items() if landed_source(path) is None}


def reserved_problem(pattern: str, paths: Iterable[str], root: str) -> str | None:
    """Why a source may not read the pattern or one of the files that match it, or None."""
    places = (table_uri(located(root, path)) for path in paths)
    return reserved_source(pattern, root, is_governed, expand=False) or reserved_among(
        places, root, is_governed
    )


def _new_files(
    everything: Selection, known: KnownFiles | None, load: LoadType, storage: Storage
) -> Selection:
    """New and changed files; all files for a PARTITION load with one of them. Archived files are
    ignored; a changed one fails an APPEND."""
    before = known.among(file.path for file in everything.files) if known else {}
    read = [_as_read(everything, file, before, load, storage) for file in everything.files]
    fresh = tuple(file for file in read if file != before.get(file.path))
    if load is LoadType.PARTITION and fresh:
        files, recorded = everything.files, tuple(read)
    else:
        files = recorded = fresh
    since = known.position.version if known else 0
    return replace(everything, files=files, position=SourcePosition(since=since, files=recorded))


def _as_read(
    everything: Selection,
    file: SourceFile,
    before: Mapping[str, SourceFile],
    load: LoadType,
    storage: Storage,
) -> SourceFile:
    """The known record of an unchanged file, else a new one."""
    known = before.get(file.path)
    if known is not None and _same(everything, file, known, storage):
        return known
    if known is not None and load is LoadType.APPEND:
        raise everything.unreadable(
            f"{file.path} changed after it was loaded, so it cannot be appended again:"
            " put changed data into a new file, or load the dataset FULL"
        )
    return file.model_copy(update={"sha256": storage.sha256(everything.location(file))})


def _same(everything: Selection, file: SourceFile, known: SourceFile, storage: Storage) -> bool:
    """Not written since, or written with equal content."""
    if file.state == known.state:
        return True
    copied = file.size == known.size and bool(known.sha256)
    return copied and storage.sha256(everything.location(file)) == known.sha256


def _merged(old: Sequence[SourceFile], new: Iterable[SourceFile]) -> tuple[SourceFile, ...]:
    files = {file.path: file for file in (*old, *new)}
    return tuple(files[path] for path in sorted(files))


def _found(storage: Storage, pattern: str, root: str) -> Iterator[SourceFile]:
    """Files that still exist; later ones are left to the next run."""
    if is_remote(located(root, pattern)):
        for path, facts in _matching_objects(pattern, root).items():
            yield _source_file(facts, path)
        return
    for path in matching(pattern, root):
        with suppress(FileNotFoundError):
            yield _source_file(storage.facts(located(root, path)), path)


def _source_file(facts: FileFacts, path: str) -> SourceFile:
    return SourceFile(path=path, size=facts.size, modified_ms=facts.modified_ms, etag=facts.etag)
