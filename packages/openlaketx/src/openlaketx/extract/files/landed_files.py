"""Copies of received files in the lake, made before they are read.

``<lake>/landing/<source>/ingest_date=YYYY-MM-DD/execution_id=<run>/<name>``, with a
``manifest.json`` written last: a folder without it is incomplete.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import SourceUnavailable, SourceUnreadable
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.run_folders import landing_place
from lakeguard_sdk.storage.storage import Storage, join, storage_for
from openlaketx.engine.locations import writable_path
from openlaketx.extract.files.manifest import Selection

MANIFEST = "manifest.json"
_OWN_PARENTS = 3
"""Parents of a run's folder: day, source, and the landing folder itself."""
_TRIES = 50
_PAUSE_SECONDS = 0.005


class Received(FrozenModel):
    """One landed file; ``origin`` is its source location, without secrets."""

    name: str
    origin: str
    size: int
    sha256: str
    received_at: Instant


class Receipt(FrozenModel):
    """Content of ``manifest.json``."""

    source: str
    dataset: str
    execution_id: str
    files: tuple[Received, ...] = Field(default_factory=tuple)


@dataclass
class Landing:
    """Landing folder of one run of one source."""

    location: str
    source: str
    dataset: str
    storage: Storage
    files: list[Received] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """On this machine."""
        return writable_path(self.location)

    def receive(self, name: str, origin: str, chunks: Iterable[bytes]) -> Received:
        """Write the bytes; they are on disk when this returns."""
        place = self.place(name)
        if name == MANIFEST or place.exists():
            raise self.unreadable(f"{origin} would land as {name}, which already exists")
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
        """Write the manifest, which marks the folder as complete."""
        receipt = Receipt(
            source=self.source,
            dataset=self.dataset,
            execution_id=self.folder.name.partition("=")[2],
            files=tuple(self.files),
        )
        for file in self.files:
            self.storage.make_durable(join(self.location, file.name))
        (self.folder / MANIFEST).write_text(receipt.to_json() + "\n", encoding="utf-8")
        place = join(self.location, MANIFEST)
        for _ in range(_OWN_PARENTS + 2):
            self.storage.make_durable(place)
            place = place.rpartition("/")[0]

    def discard(self) -> None:
        """Remove the folder and its empty parents: nothing was received."""
        self.files.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):
            for folder in self.folder.parents[:_OWN_PARENTS]:
                folder.rmdir()


def run_folder(plan: RunPlan, source: str, lake: str) -> str:
    """Landing folder of a run; a retry is another run."""
    day = (plan.as_of or datetime.now(UTC)).date().isoformat()
    return landing_place(lake, source, day, plan.ticket.run_id)


@contextmanager
def landing(plan: RunPlan, source: str, lake: str, storage: Storage) -> Iterator[Landing]:
    """A folder that is complete after the block, or removed."""
    made = Landing(run_folder(plan, source, lake), source, str(plan.dataset), storage)
    _make(made)
    try:
        yield made
        if made.files:
            made.finish()
    except OSError as error:
        made.discard()
        raise made.unreadable(_write_problem(made.folder, error)) from None
    except BaseException:
        made.discard()
        raise


def _make(made: Landing) -> None:
    """Create the folder; retries because other runs may remove an empty parent."""
    for tries_left in reversed(range(_TRIES)):
        try:
            made.folder.mkdir(parents=True)
            return
        except OSError as error:
            passing = isinstance(error, FileNotFoundError | FileExistsError)
            if not tries_left or not passing:
                raise made.unreadable(_write_problem(made.folder, error)) from None
        time.sleep(_PAUSE_SECONDS)


def _write_problem(folder: Path, error: OSError) -> str:
    return f"cannot write to {folder}: {error.strerror or error}"


# Landing of local files: copied unchanged, then read from the copies.

_CHUNK = 1 << 20


def land_files(selection: Selection, pattern: str, landing: Landing, storage: Storage) -> Selection:
    """The same files with their content hash; a file that changes during the copy is rejected."""
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
    """Path relative to the part of the pattern without wildcards, so that subfolders stay
    separate."""
    fixed: list[str] = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return str(Path(path).relative_to(Path(*fixed)))


def _chunks(selection: Selection, file: SourceFile) -> Iterator[bytes]:
    try:
        origin = selection.origin(file)
        with storage_for(origin).open(origin) as content:
            while chunk := content.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise selection.unreadable(f"{file.path}: {error.strerror or error}") from None
