"""Whether a file of a table is the one that was published, by the record of its version.

The footer of a Parquet file holds place, size and statistics of every column chunk, so another
file, or one that was written again, has another footer. Forged pages under an unchanged footer are
found by a full hash only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.storage.checksum_files import wrong_checksum_file
from lakeguard_sdk.storage.storage import join, storage_for

_MAGIC = b"PAR1"
_END = 8
"""Bytes after the footer: its length and the magic number."""
_FIRST_READ = 16 * 1024
_ENCRYPTED = b"PARE"
_BROKEN_PAGES = re.compile(
    r"checksum|(?<![_a-z])corrupt(?!_record|files)|decompress|FAILED_TO_UNCOMPRESS|Out of buffer|"
    r"Invalid string encoding",
    re.I,
)
"""Of Spark, Parquet and DuckDB; other reasons may have these words, so files are compared then."""


class FileRecord(FrozenModel):
    """A file of a table as the ledger recorded it; ``path`` is relative to the table's root."""

    path: str
    size: int
    footer: str = ""
    """Hex digest of its Parquet footer; empty if it was not recorded."""
    sha256: str = ""
    """Hex digest of its content; empty if it need not be compared."""


class NoFooter(ValueError):
    """The file does not end as a Parquet file does."""


def footer_digest(location: str) -> str:
    """SHA-256 of the footer of a Parquet file; raises ``NoFooter`` or OSError."""
    storage = storage_for(location)
    end, size = storage.read_end(location, _FIRST_READ)
    if len(end) < _END or end[-4:] not in (_MAGIC, _ENCRYPTED):
        raise NoFooter("it is not a whole Parquet file")
    length = int.from_bytes(end[-_END:-4], "little") + _END
    if length > size:
        raise NoFooter("it is not a whole Parquet file")
    if length > len(end):
        end, size = storage.read_end(location, length)
    return hashlib.sha256(end[-length:]).hexdigest()


def file_damage(location: str, record: FileRecord) -> str | None:
    """How the file at ``location`` differs from its record, or None."""
    try:
        size = storage_for(location).facts(location).size
        if size != record.size:
            return f"it has {size:,} bytes instead of {record.size:,}"
        if record.footer and footer_digest(location) != record.footer:
            return "it is not the file that was published: its footer differs"
        if record.sha256 and storage_for(location).sha256(location) != record.sha256:
            return "it is not the file that was published: its content differs"
        return wrong_checksum_file(location, whole=bool(record.sha256))
    except FileNotFoundError:
        return "it is missing"
    except NoFooter as error:
        return f"it is not the file that was published: {error}"
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"


def first_damage(
    location: str, paths: Iterable[str], records: Iterable[FileRecord]
) -> tuple[str, str] | None:
    """The first of the files of a table that differs from its record, and how; None if none does.

    A file without a record was published by nobody.
    """
    known = {record.path: record for record in records}
    for path in paths:
        record = known.get(path)
        problem = "the ledger has no record of it"
        if record is not None:
            found = file_damage(join(location, path), record)
            if found is None:
                continue
            problem = found
        return path, problem
    return None


def suggests_damage(message: str) -> bool:
    """Whether an engine's message may come from pages that are not those that were written."""
    return _BROKEN_PAGES.search(message) is not None
