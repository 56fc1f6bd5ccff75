"""The source files that a version has read.

A row records a change against the preceding version number, whichever version the run was based on.
The files of a version are therefore the last rows of each file up to it, and a rollback changes no
row.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Row,
    Select,
    String,
    TableValuedAlias,
    and_,
    cast,
    func,
    literal,
    select,
)

from lakeguard.ledger.documents import get_document, put_document
from lakeguard.ledger.versions import require_version
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import source_files
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition, VersionPosition

Known = dict[str, SourceFile]
"""Records of source files, by key."""
PAGE = 5_000
_AT_ONCE = 1_000
_FACTS = ("path", "size", "modified_ms", "sha256", "etag", "by_content")


def position_of(tx: Transaction, dataset_id: str, version: int) -> VersionPosition | None:
    """None if the version has no source, or recorded no position."""
    stored = require_version(tx, dataset_id, version)
    if stored.position_hash is None:
        return None
    return VersionPosition.from_json(get_document(tx, stored.position_hash))


def record_position(
    tx: Transaction, dataset_id: str, version: int, read: SourcePosition, at: datetime
) -> str:
    """Record the position of a new version; returns the hash of its document."""
    base = position_of(tx, dataset_id, read.since) if read.since else None
    known = files_of(tx, dataset_id, read.since, read.changes)
    target, current = read.changes, known
    if read.since != version - 1:
        target = _changes_since(tx, dataset_id, version - 1, read)
        current = files_of(tx, dataset_id, version - 1, target)
    rows = [
        _row(tx, dataset_id, version, file or current[key], gone=file is None)
        for key, file in sorted(target.items())
        if file != current.get(key)
    ]
    outbox.record(tx, source_files, rows, at)
    return put_document(tx, read.at(version, base, known).to_data(), at)


def _changes_since(
    tx: Transaction, dataset_id: str, version: int, read: SourcePosition
) -> dict[str, SourceFile | None]:
    """Changes against a version, of a position that is based on an earlier one."""
    if read.since:
        keys = _changed(tx, dataset_id, read.since, version)
    else:
        keys = {file.key for file in all_files(tx, dataset_id, version)}
    base = files_of(tx, dataset_id, read.since, keys - read.changes.keys())
    return {**{key: base.get(key) for key in keys}, **read.changes}


def files_of(tx: Transaction, dataset_id: str, version: int, keys: Iterable[str]) -> Known:
    """Records of those of the keys that a version has read."""
    hashes = sorted(map(_hash, keys)) if version else []
    found: Known = {}
    for piece in in_pieces(hashes, _AT_ONCE):
        found |= _files(tx.execute(_last_of(tx, dataset_id, version, piece)))
    return found


def file_page(tx: Transaction, dataset_id: str, version: int, after: str) -> Known:
    """The next files of a version after a key, in an arbitrary but fixed order."""
    pages = _pages(tx, dataset_id, version, _hash(after) if after else "")
    return next((page for page in pages if page), {})


def all_files(tx: Transaction, dataset_id: str, version: int) -> Iterator[SourceFile]:
    """Every file of a version."""
    for page in _pages(tx, dataset_id, version, ""):
        yield from page.values()


def _pages(tx: Transaction, dataset_id: str, version: int, last: str) -> Iterator[Known]:
    """In the order of keys; a page with only removed files is empty."""
    rows, found = source_files.c, list[Row[Any]]()
    while not found or len(found) == PAGE:
        newest = (
            select(rows.file_key, func.max(rows.version).label("version"))
            .where(rows.dataset_id == dataset_id, rows.version <= version, rows.file_key > last)
            .group_by(rows.file_key)
            .order_by(rows.file_key)
            .limit(PAGE)
            .subquery()
        )
        own = and_(rows.file_key == newest.c.file_key, rows.version == newest.c.version)
        page = select(source_files).join(newest, own).where(rows.dataset_id == dataset_id)
        found = list(tx.execute(page.order_by(rows.file_key)))
        if not found:
            return
        yield _files(row for row in found if not row.gone)
        last = found[-1].file_key


def compared_files(
    tx: Transaction, dataset_id: str, before: SourcePosition, after: SourcePosition
) -> tuple[Known, Known]:
    """The files of two positions that a version between them may have changed."""
    low, high = sorted((before.since, after.since))
    keys = {*_changed(tx, dataset_id, low, high), *before.changes, *after.changes}
    return _resolved(tx, dataset_id, before, keys), _resolved(tx, dataset_id, after, keys)


def _resolved(tx: Transaction, dataset_id: str, read: SourcePosition, keys: set[str]) -> Known:
    changes = read.changes
    known = files_of(tx, dataset_id, read.since, keys - changes.keys())
    return {**known, **{key: file for key, file in changes.items() if file is not None}}


def _changed(tx: Transaction, dataset_id: str, after: int, until: int) -> set[str]:
    """Keys of the files that versions in ``(after, until]`` added, changed or removed."""
    if after >= until:
        return set()
    rows = source_files.c
    touched = select(source_files).where(
        rows.dataset_id == dataset_id, rows.version > after, rows.version <= until
    )
    return {_file(row).key for row in tx.execute(touched)}


def _last_of(
    tx: Transaction, dataset_id: str, version: int, hashes: Collection[str]
) -> Select[Any]:
    """The last row of each file up to a version, with one index lookup per file."""
    rows, earlier, given = source_files.c, source_files.alias("earlier"), _texts(tx, hashes)
    last = (
        select(func.max(earlier.c.version))
        .where(
            earlier.c.dataset_id == dataset_id,
            earlier.c.file_key == given.c.value,
            earlier.c.version <= version,
        )
        .scalar_subquery()
    )
    own = and_(rows.dataset_id == dataset_id, rows.file_key == given.c.value, rows.version == last)
    return select(source_files).select_from(given.join(source_files, own)).where(~rows.gone)


def _texts(tx: Transaction, texts: Collection[str]) -> TableValuedAlias:
    """Texts as rows, passed as one parameter."""
    given = json.dumps(list(texts))
    if tx.dialect.name == "postgresql":
        rows = func.json_array_elements_text(cast(literal(given, String), JSON))
    else:
        rows = func.json_each(given)
    return rows.table_valued("value", name="given")


def _files(rows: Iterable[Row[Any]]) -> Known:
    return {file.key: file for file in map(_file, rows)}


def _file(row: Row[Any]) -> SourceFile:
    facts = row._mapping
    return SourceFile(**{name: facts[name] for name in _FACTS if facts[name] is not None})


def _row(
    tx: Transaction, dataset_id: str, version: int, file: SourceFile, *, gone: bool
) -> dict[str, Any]:
    return {
        "dataset_id": dataset_id,
        "version": version,
        "file_key": _hash(file.key),
        "path": file.path,
        "size": file.size,
        "modified_ms": file.modified_ms,
        "sha256": file.sha256 or None,
        "etag": file.etag or None,
        "by_content": file.by_content,
        "gone": gone,
        "org_id": tx.org_id,
    }


def _hash(key: str) -> str:
    """Keys may be longer than an index allows."""
    return hash_bytes(key.encode("utf-8", "surrogatepass"))
