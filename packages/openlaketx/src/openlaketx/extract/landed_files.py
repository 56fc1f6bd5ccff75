"""Files of a folder, landed: copied as they are, then read from the copies."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path

from lakeguard_sdk.evidence import SourceFile
from lakeguard_sdk.storage import Storage, local_path
from openlaketx.extract.landing import Landing
from openlaketx.extract.manifest import Selection

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
