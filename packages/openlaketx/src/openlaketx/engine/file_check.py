"""Compares files of governed tables with the records of their versions, before they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import FileDamaged, TableUnreadable, UnknownVersion
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage.file_records import FileRecord, first_damage
from lakeguard_sdk.storage.storage import join


@dataclass(frozen=True)
class _Check:
    """The records, and the files that agreed with theirs during this block."""

    reader: Reader
    passed: set[str] = field(default_factory=set)


_current: ContextVar[_Check | None] = ContextVar("file_check", default=None)


@contextmanager
def checking_files(reader: Reader | None) -> Iterator[None]:
    """During the block, this thread reads no file of a governed table that differs from its
    record. Without a reader there are no records to compare."""
    token = _current.set(None if reader is None else _Check(reader))
    try:
        yield
    finally:
        _current.reset(token)


def check_shown(
    dataset: str, table_id: str, location: str, commit: int, paths: Collection[str]
) -> None:
    """Raise ``TableUnreadable`` unless the log shows exactly the published files, and
    ``NotRegistered`` if the caller may not read the dataset."""
    check = _current.get()
    if check is None:
        return
    published: Collection[str] = ()
    try:
        published = check.reader.published_files(table_id, commit)
    except UnknownVersion:
        _require_readable(check.reader, dataset)
    other = sorted(set(published) ^ set(paths))
    if other:
        reason = (
            f"its log was altered: it shows {len(paths):,} files instead of {len(published):,};"
            f" {other[0]} is one of {len(other):,} that differ"
        )
        raise TableUnreadable(dataset=dataset, location=location, reason=reason)


def check_files(dataset: str, table_id: str, location: str, paths: Collection[str]) -> None:
    """Raise ``FileDamaged`` for the first of a table's files that is not the published one, and
    ``NotRegistered`` if the caller may not read the dataset."""
    check = _current.get()
    if check is None:
        return
    fresh = sorted(path for path in paths if join(location, path) not in check.passed)
    if not fresh:
        return
    records: Sequence[FileRecord] = ()
    try:
        records = check.reader.file_records(table_id, fresh)
    except UnknownVersion:
        _require_readable(check.reader, dataset)
    found = first_damage(location, fresh, records)
    if found is not None:
        path, problem = found
        raise FileDamaged(dataset=dataset, path=path, problem=problem)
    check.passed.update(join(location, path) for path in fresh)


def _require_readable(reader: Reader, dataset: str) -> None:
    """Missing records mean damage only if the caller may read them."""
    reader.dataset(DatasetName(dataset))
