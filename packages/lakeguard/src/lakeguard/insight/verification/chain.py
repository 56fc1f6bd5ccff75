"""CHAIN: every batch hashes to its link, and every link follows from the one before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakeguard.insight.verification.row_sides import LedgerSide
from lakeguard.relay.chain import GENESIS, next_head
from lakeguard.relay.stamp import Link
from lakeguard.relay.tables import BATCH, ORDINAL
from lakeguard_sdk.model.verification import Finding, FindingKind

_DIGEST = 32
_COLUMNS = ["batch", "ordinal", "digest"]
_NAMED_ROWS = 3


class Rechained:
    """Digests of the ledger's rows in chain order; rows themselves are not kept."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._by_table: dict[str, Counter[int]] = {}
        self._digests = memoryview(b"")
        self._spans: dict[int, tuple[int, int]] = {}

    def add(self, side: LedgerSide) -> None:
        digests = pa.chunked_array([pa.array(side.digests, pa.binary(_DIGEST))])
        arrays = [side.data[BATCH], side.data[ORDINAL], digests]
        self._parts.append(pa.Table.from_arrays(arrays, names=_COLUMNS))
        self._by_table[side.table.name] = Counter(side.batches)

    def close(self) -> None:
        """Called once all tables were added; batches can be queried afterwards."""
        if not self._parts:
            return
        every = pa.concat_tables(self._parts).sort_by(
            [("batch", "ascending"), ("ordinal", "ascending")]
        )
        self._parts = []
        digests = every["digest"].combine_chunks()
        batches = pc.run_end_encode(every["batch"].combine_chunks())
        if isinstance(digests, pa.ChunkedArray):
            digests = digests.chunk(0)
        start = digests.offset * _DIGEST
        self._digests = memoryview(digests.buffers()[1])[start:]
        begin = 0
        for batch, end in zip(
            batches.values.to_pylist(), batches.run_ends.to_pylist(), strict=True
        ):
            self._spans[batch] = (begin, end)
            begin = end

    @property
    def batches(self) -> Collection[int]:
        return self._spans.keys()

    def rows(self, batch: int) -> int:
        begin, end = self._spans.get(batch, (0, 0))
        return end - begin

    def rows_by_table(self, batch: int) -> dict[str, int]:
        return {name: rows[batch] for name, rows in self._by_table.items() if rows[batch]}

    def head(self, link: Link) -> str:
        """The head of a link, recomputed from the rows."""
        begin, end = self._spans.get(link.batch, (0, 0))
        digests = bytes(self._digests[begin * _DIGEST : end * _DIGEST])
        return next_head(link.previous, link.batch, [digests])


@dataclass(frozen=True)
class Chains:
    """The chain of both sides, and the digests of its rows."""

    state: Sequence[Link]
    ledger: Sequence[Link] | None
    """None if the ledger's copy is unreadable."""
    rechained: Rechained
    settled: int
    unread: frozenset[str]
    """Unreadable tables: batches with their rows cannot be checked."""
    strange: Mapping[int, Sequence[str]]


def chain_findings(chains: Chains) -> Iterator[Finding]:
    yield from _links(chains.state)
    if chains.ledger is not None:
        yield from _copies(chains.state, chains.ledger, chains.settled)
    for link in chains.state:
        if link.batch <= chains.settled:
            yield from _rows(link, chains)
    known = {link.batch for link in chains.state}
    for batch in sorted(set(chains.rechained.batches) - known):
        if batch <= chains.settled:
            rows = chains.rechained.rows(batch)
            yield _finding(batch, f"expected no rows, found {rows:,}: the chain has no such batch")


def _links(links: Sequence[Link]) -> Iterator[Finding]:
    previous = GENESIS
    for link in links:
        if link.previous != previous:
            message = (
                f"expected to follow from {_short(previous)}, follows from {_short(link.previous)}"
            )
            yield _finding(link.batch, message)
        previous = link.head


def _copies(state: Sequence[Link], ledger: Sequence[Link], settled: int) -> Iterator[Finding]:
    here = {link.batch: link for link in state if link.batch <= settled}
    counted = Counter(link.batch for link in ledger)
    there = {link.batch: link for link in ledger if link.batch <= settled}
    for batch in sorted(here.keys() | there.keys()):
        mine, other = here.get(batch), there.get(batch)
        if mine is None:
            yield _finding(batch, "a link of the ledger's chain, but not of the State's")
        elif other is None:
            yield _finding(batch, "a link of the State's chain, but not of the ledger's")
        elif mine != other:
            names = [n for n in Link._fields if getattr(mine, n) != getattr(other, n)]
            yield _finding(batch, f"State and ledger differ in {', '.join(names)} of the link")
        elif counted[batch] > 1:
            yield _finding(batch, f"expected one link in the ledger, found {counted[batch]}")


def _rows(link: Link, chains: Chains) -> Iterator[Finding]:
    recorded = _rows_recorded(link)
    if chains.unread & recorded.keys() or chains.rechained.head(link) == link.head:
        return
    strange = chains.strange.get(link.batch, ())
    found = chains.rechained.rows_by_table(link.batch)
    counts = [
        f"{name} {recorded.get(name, 0):,} rows told, {found.get(name, 0):,} found"
        for name in sorted(recorded.keys() | found.keys())
        if recorded.get(name, 0) != found.get(name, 0)
    ]
    named = [f"not as told: {place}" for place in strange[:_NAMED_ROWS]]
    why = "; ".join([*counts, *named]) or "the same number of rows, but not the rows that were told"
    yield _finding(link.batch, f"its rows do not hash to {_short(link.head)}: {why}")


def _rows_recorded(link: Link) -> dict[str, int]:
    try:
        recorded = json.loads(link.tables)
        return {str(name): int(rows) for name, rows in recorded.items()}
    except (ValueError, AttributeError, TypeError):
        return {}


def _finding(batch: int, message: str) -> Finding:
    return Finding(kind=FindingKind.CHAIN, place=f"batch {batch}", message=message)


def _short(head: str) -> str:
    return f"{head[:19]}…"
