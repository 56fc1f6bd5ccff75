"""LEDGER: every ledger table exists and all its files are readable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from lakeguard.insight.verification.row_sides import LedgerSide, ledger_side
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.ledger_table import LedgerFiles
from lakeguard.relay.owner import OWNER_FILE, Ownership
from lakeguard.relay.stamp import Link
from lakeguard.relay.tables import (
    BATCH,
    CHAIN,
    ORDINAL,
    LedgerTable,
)
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.model.verification import Finding, FindingKind
from lakeguard_sdk.storage.storage import join, readable_file, storage_for

_PLAIN_READER = 1
"""Ledger tables use only the base protocol; any other feature means tampering."""


LedgerReading = tuple[LedgerSide | None, tuple[Finding, ...]]


def read_side(files: LedgerFiles, table: LedgerTable) -> LedgerReading:
    """The table's rows, if readable, and all problems with its files."""
    if not files.exists():
        return None, (_finding(table.name, "expected a Delta table, found none"),)
    try:
        handle = files.open()
        actions = handle.get_add_actions()
        needed = handle.protocol().min_reader_version
    except (LedgerUnreadable, DeltaError, OSError, ValueError) as error:
        message = f"its Delta log is not readable: {_first_line(error)}"
        return None, (_finding(table.name, message),)
    paths = map(unquote, actions["path"].to_pylist())
    sizes = dict(zip(paths, actions["size_bytes"].to_pylist(), strict=True))
    found = (*_newer_protocol(table, needed), *_damages(files, sizes, table, _leave_unread))
    try:
        data, nobodys = _placed(files.read_files(sizes), table)
        return ledger_side(table, data), (*found, *nobodys)
    except (LedgerUnreadable, pa.ArrowException, ValueError) as error:
        found = (*_newer_protocol(table, needed), *_damages(files, sizes, table, _read_whole))
        return None, found or (_finding(table.name, f"not readable: {_first_line(error)}"),)


def _placed(data: pa.Table, table: LedgerTable) -> tuple[pa.Table, tuple[Finding, ...]]:
    """Rows without a valid chain position, and incomplete links."""
    needed = (BATCH, ORDINAL, *(table.columns if table.name == CHAIN else ()))
    if not any(data[name].null_count for name in needed):
        return data, ()
    placed = reduce(pc.and_, (pc.is_valid(data[name]) for name in needed))
    complete = data.filter(placed)
    lost, named = data.num_rows - complete.num_rows, " and ".join((BATCH, ORDINAL))
    message = f"expected {named} in every row, found {lost:,} without: no batch has told them"
    return complete, (_finding(table.name, message),)


def beyond(table: str, batch: int, rows: int, last: int) -> Finding:
    """Rows that belong to no batch of the chain."""
    message = f"expected no batch after {last}, found {rows:,} rows of batches up to {batch}"
    return _finding(table, message)


def _newer_protocol(table: LedgerTable, needed: int) -> Iterator[Finding]:
    if needed != _PLAIN_READER:
        yield _finding(table.name, f"expected reader protocol {_PLAIN_READER}, found {needed}")


def _damages(
    files: LedgerFiles,
    sizes: Mapping[str, int],
    table: LedgerTable,
    read: Callable[[str], object],
) -> Iterator[Finding]:
    for path, size in sizes.items():
        damage = _damage(join(files.location, path), size, read)
        if damage:
            yield _finding(f"{table.name}/{path}", damage)


def _damage(location: str, size: int, read: Callable[[str], object]) -> str | None:
    try:
        found = storage_for(location).facts(location).size
    except FileNotFoundError:
        return f"expected a file of {size:,} bytes, found none"
    if found != size:
        return f"expected {size:,} bytes, found {found:,}"
    try:
        read(location)
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"not readable as Parquet: {_first_line(error)}"
    return None


def _leave_unread(location: str) -> None:
    """The rows are read afterwards, and tell whether the file is readable."""


def _read_whole(location: str) -> None:
    pq.ParquetFile(readable_file(location)).read().validate(full=True)


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.LEDGER, place=place, message=message)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


# TRUNCATED: the chain contains every head published outside of it.


def truncation_findings(
    links: Sequence[Link], owner: Ownership | None, noted_head: str | None
) -> Iterator[Finding]:
    """``noted_head`` is a head noted down outside the lake."""
    heads = {link.batch: link.head for link in links}
    last = max(heads, default=0)
    if owner is not None and owner.batch:
        if owner.batch not in heads:
            message = f"expected batch {owner.batch} in the chain, which ends at batch {last}"
            yield _truncation_finding(OWNER_FILE, message)
        elif heads[owner.batch] != owner.head:
            message = (
                f"expected head {owner.head} after batch {owner.batch}, found {heads[owner.batch]}"
            )
            yield _truncation_finding(OWNER_FILE, message)
    if noted_head is not None and noted_head not in {*heads.values(), GENESIS}:
        message = f"expected among the {len(links):,} heads of the chain, found in none"
        yield _truncation_finding(f"head {noted_head}", message)


def _truncation_finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.TRUNCATED, place=place, message=message)
