"""Evidence: everything the control plane sees of the data, and the notes of a build."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import NoteRefused
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.quarantine import QuarantinedRows
from lakeguard_sdk.security.secret_values import holds_secret, is_reference, is_sensitive_key
from lakeguard_sdk.types.schema import TableSchema


class StagedFile(FrozenModel):
    """A staged file; ``path`` is relative to the table's root and not URL-encoded."""

    path: str
    size: int
    rows: int
    modified_ms: int
    stats: str
    """Delta file statistics as JSON, from the file's footer."""
    sha256: str = ""
    """Hex digest of the content; empty for files that are only measured."""
    footer: str = Field(default="", exclude_if=lambda digest: not digest)
    """Hex digest of the Parquet footer, compared before the file is read."""
    partition: dict[str, str | None] = Field(default_factory=dict)
    """The value of each partition column, as in Delta's log."""


class InputVersion(FrozenModel):
    """The exact version of a dataset that a run read."""

    dataset: DatasetName
    dataset_id: str
    version: int


NO_FILES = "0" * 64
"""The digest of no files."""


class SourceFile(FrozenModel):
    """A source file as it was when it was read."""

    path: str
    size: int
    modified_ms: int
    sha256: str = ""
    """Hex digest of the content, if files are tracked: a touched file is not read again."""
    etag: str = ""
    """The object store's tag of the content: its times are of whole seconds only."""
    by_content: bool = Field(default=False, exclude_if=lambda known: not known)
    """Whether its content identifies it, as for downloads, which all have one name."""

    @property
    def key(self) -> str:
        """Identifies it among the files of its source: its path, or the hash of its content."""
        return self.sha256 if self.by_content else self.path

    @property
    def state(self) -> tuple[int, int | str]:
        """Equal for two observations of a file between which it was not written."""
        return self.size, self.etag or self.modified_ms


class VersionPosition(FrozenModel):
    """How far a version has read its source. Its files may be very many: read them with
    ``Reader.source_files``."""

    version: int
    files: int = 0
    digest: str = NO_FILES
    """Of all files, independent of their order."""
    watermark: str | None = None
    """The highest value read so far, as text: ISO for dates and times, plain for numbers."""
    watermark_of: str = ""
    """Source and column of the watermark."""

    def holds(self, files: Collection[SourceFile]) -> bool:
        """Whether these are all its files, in the same state."""
        return (self.files, self.digest) == (len(files), files_digest(files))

    @property
    def unmoved(self) -> SourcePosition:
        """The same position, for a run that does not move it."""
        return SourcePosition(
            since=self.version, watermark=self.watermark, watermark_of=self.watermark_of
        )


class SourcePosition(FrozenModel):
    """How far a run has read its source, as a difference to the position of its base version."""

    since: int = Field(default=0, exclude_if=lambda version: not version)
    """The version that it continues; 0 if ``files`` lists all files."""
    files: tuple[SourceFile, ...] = ()
    """Files that the run read, in the state in which it read them."""
    gone: tuple[str, ...] = Field(default=(), exclude_if=lambda keys: not keys)
    """Keys of files that do not count as read any more."""
    watermark: str | None = None
    watermark_of: str = ""

    @property
    def changes(self) -> dict[str, SourceFile | None]:
        """By key, what replaces the record of the version before; None for what is gone."""
        return {**dict.fromkeys(self.gone), **{file.key: file for file in self.files}}

    def at(
        self, version: int, before: VersionPosition | None, known: Mapping[str, SourceFile]
    ) -> VersionPosition:
        """The position of the version that is made of it. ``known`` are the records that the
        position ``before`` has of the changed files."""
        changes = self.changes
        old = [known[key] for key in changes if key in known] if before else []
        new = [file for file in changes.values() if file is not None]
        files, digest = (before.files, before.digest) if before else (0, NO_FILES)
        return VersionPosition(
            version=version,
            files=files - len(old) + len(new),
            digest=_added(digest, files_digest(new), files_digest(old)),
            watermark=self.watermark,
            watermark_of=self.watermark_of,
        )


def files_digest(files: Iterable[SourceFile]) -> str:
    """Equal for the same files in the same state, in any order. The digest of two sets together is
    the sum of theirs."""
    total = 0
    for file in files:
        fact = canonical_json([file.path, file.key, *file.state]).encode()
        total += int.from_bytes(hashlib.sha256(fact).digest(), "big")
    return _hex(total)


def _added(digest: str, new: str, old: str) -> str:
    return _hex(int(digest, 16) + int(new, 16) - int(old, 16))


def _hex(total: int) -> str:
    return f"{total % 2**256:064x}"


class Changes(FrozenModel):
    """Row counts of a load by key; unchanged, late and duplicate rows are not staged."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    late: int = 0
    """Rows older than the table's row of their key, or below the watermark; skipped."""
    duplicates: int = 0
    """Rows replaced by a later row of the same key and batch."""


class Evidence(FrozenModel):
    """Measures and facts of exactly the files to be published."""

    run_id: str
    dataset: DatasetName
    table_schema: TableSchema = Field(alias="schema")
    rows: int
    """Rows of the run: the whole batch, or those changed by a load by key."""
    table_rows: int
    files: tuple[StagedFile, ...]
    removes: tuple[str, ...]
    base_commit: int | None
    measures: dict[str, MeasureValue]
    unmeasured: dict[str, str] = Field(default_factory=dict)
    """Failed measures with the reason; the gate blocks on them."""
    inputs: tuple[InputVersion, ...]
    position: SourcePosition | None = None
    build_hash: str
    engine: str
    changes: Changes | None = None
    rejected: int = 0
    """Quarantined malformed lines."""
    notes: dict[str, Any] = Field(default_factory=dict)
    """Notes of the build, any JSON."""
    quarantined: QuarantinedRows | None = Field(
        default=None, exclude_if=lambda found: found is None
    )
    """Rows quarantined by rules; None if there were none."""
    batch: int | None = Field(default=None, exclude_if=lambda rows: rows is None)
    """Rows passed to the load, without quarantined and malformed ones; None if equal to
    ``rows``."""

    @property
    def batch_rows(self) -> int:
        """Rows passed to the load."""
        return self.rows if self.batch is None else self.batch

    @property
    def rows_quarantined(self) -> int:
        return 0 if self.quarantined is None else self.quarantined.rows

    @property
    def rows_read(self) -> int:
        """All rows read by the run."""
        return self.batch_rows + self.rows_quarantined + self.rejected


# Notes that a build attaches to the version it produces.

LARGEST = 64 * 1024
"""Maximum size of all notes of one run, in bytes of canonical JSON."""


def checked_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes as plain JSON; raises ``NoteRefused`` if they are too large or contain secrets."""
    if not isinstance(notes, Mapping):
        raise NoteRefused(reason=f"expected a mapping, not a {type(notes).__name__}")
    try:
        text = canonical_json(notes)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise NoteRefused(reason=str(error)) from None
    except RecursionError:
        raise NoteRefused(reason="nested too deeply") from None
    if size > LARGEST:
        raise NoteRefused(reason=f"all notes together have {size:,} bytes, more than {LARGEST:,}")
    plain: dict[str, Any] = json.loads(text)
    for key, value in _texts("", plain):
        if holds_secret(value) or (is_sensitive_key(key) and not is_reference(value)):
            raise NoteRefused(reason=f"the value of {key!r} looks like a secret")
    return plain


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text with its key; keys themselves are texts too."""
    if isinstance(value, dict):
        for inner, item in value.items():
            yield "", inner
            yield from _texts(inner, item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(key, item)
    elif isinstance(value, str):
        yield key, value
