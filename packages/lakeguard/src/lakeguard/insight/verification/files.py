"""FILE: every file of every version exists and is the one that was published."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from lakeguard.ledger.known_moves import Governed, PublishedFile
from lakeguard_sdk.model.quarantine import StagedQuarantineFile
from lakeguard_sdk.model.verification import Finding, FindingKind
from lakeguard_sdk.storage.checksum_files import wrong_checksum_file
from lakeguard_sdk.storage.storage import is_remote, join, local_path, storage_for

_SMALL = 1024 * 1024


_UNDO = 'lakeguard undo DATASET --reason "…"'


def file_findings(location: str, governed: Governed, shown: Container[str]) -> Iterator[Finding]:
    """Files with a recorded hash are read whole; for others only the size is checked.

    Files removed by maintenance may be missing, but never files of the current version.
    """

    def damage(file: PublishedFile) -> str | None:
        return content_damage(join(location, file.path), file)

    expected = [f for f in governed.files if f.path in shown or f.path not in governed.removed]
    for file, damaged in side_by_side(damage, expected):
        if damaged is not None:
            place = join(governed.location, file.path)
            undone = damaged == wrong_checksum_file(join(location, file.path), whole=True)
            yield Finding(
                kind=FindingKind.FILE,
                place=place,
                message=damaged,
                next_command=_UNDO if undone else "",
            )


def content_damage(location: str, file: PublishedFile | StagedQuarantineFile) -> str | None:
    """How the file differs from its record, or None."""
    try:
        return _damage(location, file)
    except FileNotFoundError:
        return f"expected a file of {file.size:,} bytes, found none"
    except OSError as error:
        return f"not readable: {error.strerror or error}"


def _damage(location: str, file: PublishedFile | StagedQuarantineFile) -> str | None:
    storage = storage_for(location)
    size = storage.facts(location).size
    if size != file.size:
        return f"expected {file.size:,} bytes, found {size:,}"
    remote = is_remote(location)
    found = storage.sha256(location) if remote else _sha256(local_path(location), size)
    if found == file.sha256.removeprefix("sha256:"):
        return wrong_checksum_file(location, whole=True)
    return "expected the content that was published, found other content"


def _sha256(path: str, size: int) -> str:
    """Read small files whole: a buffer for each would cost more than reading."""
    with open(path, "rb", buffering=0) as content:
        if size > _SMALL:
            return hashlib.file_digest(content, "sha256").hexdigest()
        return hashlib.sha256(content.read(size + 1)).hexdigest()


# Reads many small files in a thread pool.

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_THREADS = 4
_A_SHARE = 250
"""Items per thread task: one file at a time would cost more than reading it."""


def side_by_side(
    call: Callable[[Asked], Answer], items: Iterable[Asked]
) -> Iterator[tuple[Asked, Answer]]:
    """Items with their results, in order."""

    def share(some: list[Asked]) -> list[Answer]:
        return [call(item) for item in some]

    waiting = iter(items)
    with ThreadPoolExecutor(_THREADS) as pool:
        while shares := [
            part for _ in range(_THREADS) if (part := list(islice(waiting, _A_SHARE)))
        ]:
            for part, answers in zip(shares, pool.map(share, shares), strict=True):
                yield from zip(part, answers, strict=True)
