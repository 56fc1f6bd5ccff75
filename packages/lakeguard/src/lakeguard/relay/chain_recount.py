"""Recomputes the audit chain from the ledger's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from lakeguard.relay.chain import next_head, row_digest
from lakeguard.relay.rows import PlainRow, from_arrow, payload_maker
from lakeguard.relay.stamp import Link
from lakeguard.relay.tables import (
    BATCH,
    ORDINAL,
    LedgerTable,
    chain_table,
)


class Recount:
    """Collects row digests by table, from which any batch's head can be recomputed."""

    def __init__(self) -> None:
        self._digests: dict[int, list[tuple[int, bytes]]] = {}

    def add(self, table: LedgerTable, rows: Sequence[PlainRow], data: pa.Table) -> None:
        make = payload_maker(table)
        places = zip(data[BATCH].to_pylist(), data[ORDINAL].to_pylist(), strict=True)
        for row, (batch, ordinal) in zip(rows, places, strict=True):
            digest = row_digest(table.name, make(row))
            self._digests.setdefault(batch, []).append((ordinal, digest))

    @property
    def batches(self) -> Iterable[int]:
        return self._digests.keys()

    def head(self, link: Link) -> str:
        """The head of a link, recomputed from the rows."""
        rows = sorted(self._digests.get(link.batch, ()))
        return next_head(link.previous, link.batch, (digest for _, digest in rows))


def links_in(data: pa.Table) -> list[Link]:
    """The ledger's own copy of the chain, in order."""
    table = chain_table()
    named = [dict(zip(table.columns, row, strict=True)) for row in from_arrow(table, data)]
    return sorted(_link(row) for row in named)


def _link(row: dict[str, Any]) -> Link:
    values = [row[name] for name in Link._fields]
    return Link._make(values)._replace(stamped_at=datetime.fromisoformat(row["stamped_at"]))
