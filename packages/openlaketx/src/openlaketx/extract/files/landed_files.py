"""Files as they were received, kept below the lake before anything reads them.

``<lake>/landing/<source>/ingest_date=YYYY-MM-DD/execution_id=<run>/<name>``, and beside them
``manifest.json``, written last: a folder without it was never finished.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.errors import SourceUnavailable, SourceUnreadable
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.run_folders import landing_place
from lakeguard_sdk.storage.storage import Storage, local_path
from openlaketx.extract.files.manifest import Selection

MANIFEST = "manifest.json"
_OWN_PARENTS = 3
"""Of a run's folder: its day, its source, and the landing itself."""
_TRIES = 20


class Received(Noun):
    """One file: ``origin`` is where it came from, with no secret in it."""

    name: str
    origin: str
    size: int
    sha256: str
    received_at: Instant


class Receipt(Noun):
    """What a manifest says."""

    source: str
    dataset: str
    execution_id: str
    files: tuple[Received, ...] = Field(default_factory=tuple)


@dataclass
class Landing:
    """The folder of one run of one source."""

    folder: Path
    source: str
    dataset: str
    storage: Storage
    files: list[Received] = field(default_factory=list)

    def receive(self, name: str, origin: str, chunks: Iterable[bytes]) -> Received:
        """The bytes as they come, on disk before this returns."""
        place = self.place(name)
        if name == MANIFEST or place.exists():
            raise self.unreadable(f"{origin} would land as {name}, which is already there")
        place.parent.mkdir(parents=True, exist_ok=True)
        size, digest = 0, hashlib.sha256()
        with place.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
            file.flush()
            os.fsync(file.fileno())
        received = Received(
            name=name,
            origin=origin,
            size=size,
            sha256=digest.hexdigest(),
            received_at=datetime.now(UTC),
        )
        self.files.append(received)
        return received

    def place(self, name: str) -> Path:
        return self.folder / name

    def unreadable(self, reason: str) -> SourceUnreadable:
        return SourceUnreadable(source=self.source, reason=reason, dataset=self.dataset)

    def unavailable(self, reason: str) -> SourceUnavailable:
        return SourceUnavailable(source=self.source, reason=reason, dataset=self.dataset)

    def finish(self) -> None:
        """After this the folder says that it is whole, and is."""
        receipt = Receipt(
            source=self.source,
            dataset=self.dataset,
            execution_id=self.folder.name.partition("=")[2],
            files=tuple(self.files),
        )
        for folder in {self.place(file.name).parent for file in self.files}:
            _sync(folder)
        manifest = self.folder / MANIFEST
        manifest.write_text(receipt.to_json() + "\n", encoding="utf-8")
        self.storage.make_durable(str(manifest))
        for parent in list(self.folder.parents)[:4]:
            _sync(parent)

    def discard(self) -> None:
        """Nothing was received after all; what holds nothing else goes too."""
        self.files.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            for folder in self.folder.parents[:_OWN_PARENTS]:
                folder.rmdir()


def run_folder(plan: RunPlan, source: str, lake: str) -> Path:
    """Where a run keeps what it received; a retry is another run."""
    day = (plan.as_of or datetime.now(UTC)).date().isoformat()
    return Path(local_path(landing_place(lake, source, day, plan.ticket.run_id)))


@contextmanager
def landing(plan: RunPlan, source: str, lake: str, storage: Storage) -> Iterator[Landing]:
    """A folder that is whole afterwards, or gone."""
    made = Landing(run_folder(plan, source, lake), source, str(plan.dataset), storage)
    _make(made)
    try:
        yield made
        if made.files:
            made.finish()
    except OSError as error:
        made.discard()
        raise made.unreadable(_not_kept(made.folder, error)) from None
    except BaseException:
        made.discard()
        raise


def _make(made: Landing) -> None:
    """Again where it fails: another run may just have taken an empty parent away."""
    for tries_left in reversed(range(_TRIES)):
        try:
            made.folder.mkdir(parents=True)
            return
        except OSError as error:
            if not tries_left:
                raise made.unreadable(_not_kept(made.folder, error)) from None


def _not_kept(folder: Path, error: OSError) -> str:
    return f"it could not be kept in {folder}: {error.strerror or error}"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Files of a folder, landed: copied as they are, then read from the copies.

_CHUNK = 1 << 20


def land_files(selection: Selection, pattern: str, landing: Landing, storage: Storage) -> Selection:
    """The same files with their content's hash; one that moved while it was copied is refused."""
    files: list[SourceFile] = []
    places: dict[str, str] = {}
    for file in selection.files:
        chunks = _chunks(selection, file)
        received = landing.receive(_name(file.path, pattern), file.path, chunks)
        selection.confirm_file(file, storage)
        if received.size != file.size or file.sha256 not in ("", received.sha256):
            raise selection.unreadable(f"{file.path} changed while it was being read")
        files.append(file.model_copy(update={"sha256": received.sha256}))
        places[file.path] = str(landing.place(received.name))
    return selection.replaced(tuple(files), places)


def _name(path: str, pattern: str) -> str:
    """Relative to the part of the pattern that has no wildcard: folders below it stay apart."""
    fixed: list[str] = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return str(Path(path).relative_to(Path(*fixed)))


def _chunks(selection: Selection, file: SourceFile) -> Iterator[bytes]:
    try:
        with open(local_path(selection.origin(file)), "rb") as content:
            while chunk := content.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise selection.unreadable(f"{file.path}: {error.strerror or error}") from None
