"""Evidence: all that the control plane ever sees of the data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.errors import NoteRefused
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.quarantine import SetAside
from lakeguard_sdk.security.secret_values import holds_secret, is_reference, is_sensitive_key
from lakeguard_sdk.types.schema import TableSchema


class StagedFile(Noun):
    """A candidate file: ``path`` is relative to the table's root, not encoded."""

    path: str
    size: int
    rows: int
    modified_ms: int
    stats: str
    """Delta file statistics as JSON text, taken from the file's own footer."""
    sha256: str = ""
    """Of the content, in hex. Empty for files that are only looked at and never published."""
    partition: dict[str, str | None] = Field(default_factory=dict)
    """The one value of each partition column in this file, as Delta's log spells it."""


class InputVersion(Noun):
    """The exact version of a dataset that a run read."""

    dataset: DatasetName
    dataset_id: str
    version: int


class SourceFile(Noun):
    """A source file that a version has read, as it was then."""

    path: str
    size: int
    modified_ms: int
    sha256: str = ""
    """Of the content, where the position matters: a copy with another time is the same file."""


class SourcePosition(Noun):
    """How far a version has read its source; it belongs to the version."""

    files: tuple[SourceFile, ...] = ()
    watermark: str | None = None
    """The highest value read so far, as text: ISO for dates and times, plain for numbers."""
    watermark_of: str = ""
    """What the watermark is a value of: another column or source has another one."""


class Changes(Noun):
    """What a load by key made of its batch. Rows that are neither are not in the candidate."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    late: int = 0
    """Older than what the table has of their key, or below the watermark; left out."""
    duplicates: int = 0
    """Rows of a key that a later row of the same batch replaced."""


class Evidence(Noun):
    """What was staged, measured on exactly the files to be published."""

    run_id: str
    dataset: DatasetName
    table_schema: TableSchema = Field(alias="schema")
    rows: int
    """Rows that the run brings: all of the batch, or those that a load by key changed."""
    table_rows: int
    files: tuple[StagedFile, ...]
    removes: tuple[str, ...]
    base_commit: int | None
    measures: dict[str, MeasureValue]
    unmeasured: dict[str, str] = Field(default_factory=dict)
    """Measures that could not be taken, with the reason; the gate blocks on them."""
    inputs: tuple[InputVersion, ...]
    position: SourcePosition | None = None
    build_hash: str
    engine: str
    changes: Changes | None = None
    rejected: int = 0
    """Malformed lines that were kept aside."""
    notes: dict[str, Any] = Field(default_factory=dict)
    """What the build itself had to say, any JSON."""
    aside: SetAside | None = Field(default=None, exclude_if=lambda found: found is None)
    """Rows that rules kept out of the files; None where there were none."""
    batch: int | None = Field(default=None, exclude_if=lambda rows: rows is None)
    """Rows of the batch that the load was given: those set aside and malformed ones are not among
    them. None where all of them are among the rows that the run brings."""

    @property
    def batch_rows(self) -> int:
        """Rows of the batch that the load was given."""
        return self.rows if self.batch is None else self.batch

    @property
    def rows_aside(self) -> int:
        return 0 if self.aside is None else self.aside.rows

    @property
    def rows_read(self) -> int:
        """All rows that the run read, whatever became of them."""
        return self.batch_rows + self.rows_aside + self.rejected


# Notes: what a build itself has to say of the version that it brings forth.

LARGEST = 64 * 1024
"""Bytes of all notes of one run, in canonical JSON."""


def checked_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes as they will be kept and shown: plain JSON, of bounded size, without secrets."""
    if not isinstance(notes, Mapping):
        raise NoteRefused(reason=f"it is a {type(notes).__name__} and not a mapping")
    try:
        text = canonical_json(notes)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise NoteRefused(reason=str(error)) from None
    except RecursionError:
        raise NoteRefused(reason="it is nested too deeply") from None
    if size > LARGEST:
        raise NoteRefused(reason=f"all notes together have {size:,} bytes, of {LARGEST:,}")
    plain: dict[str, Any] = json.loads(text)
    for key, value in _texts("", plain):
        if holds_secret(value) or (is_sensitive_key(key) and not is_reference(value)):
            raise NoteRefused(reason=f"what stands under {key!r} looks like a secret")
    return plain


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text, with the key that it stands under; keys themselves are texts too."""
    if isinstance(value, dict):
        for inner, item in value.items():
            yield "", inner
            yield from _texts(inner, item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(key, item)
    elif isinstance(value, str):
        yield key, value
