"""FILE: every file that a version has shown is there, and is the one that was published."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lakeguard.insight.verifying.moves import Governed, PublishedFile
from lakeguard_sdk.proof import Finding, FindingKind
from lakeguard_sdk.storage import join, storage_for

_THREADS = 4
_AT_ONCE = 5_000


def file_findings(location: str, governed: Governed) -> Iterator[Finding]:
    """Files with a recorded hash are read whole, the others are only measured."""
    storage = storage_for(location)

    def damage(file: PublishedFile) -> str | None:
        place = join(location, file.path)
        try:
            size = storage.facts(place).size
            if size != file.size:
                return f"expected {file.size:,} bytes, found {size:,}"
            found = storage.sha256(place) if file.sha256 else ""
        except FileNotFoundError:
            return f"expected a file of {file.size:,} bytes, found none"
        except OSError as error:
            return f"not readable: {error.strerror}"
        same = found == file.sha256.removeprefix("sha256:")
        return None if same else "expected the content that was published, found other content"

    files = list(governed.files)
    with ThreadPoolExecutor(_THREADS) as pool:
        for start in range(0, len(files), _AT_ONCE):
            part = files[start : start + _AT_ONCE]
            for file, said in zip(part, pool.map(damage, part, chunksize=100), strict=True):
                if said is not None:
                    place = join(governed.location, file.path)
                    yield Finding(kind=FindingKind.FILE, place=place, message=said)
