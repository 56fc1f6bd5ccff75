"""The relay: what the State told goes to the lake ledger, batch by batch, exactly once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from lakeguard.relay import owner
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.owner import ledger_root
from lakeguard.relay.stamping import (
    Link,
    delivered,
    has_waiting,
    last_link,
    links_after,
    mark_delivered,
    stamp,
)
from lakeguard.state.database import Database
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.ledger_errors import LedgerGone
from lakeguard_sdk.proof import Synced

if TYPE_CHECKING:
    from lakeguard.relay.delivering import Ledger

_PATIENCE_SECONDS = 60.0
_THREADS = 4


@dataclass(eq=False)
class Relay:
    """Of one organisation and its lake. Safe to call from many threads and processes."""

    database: Database
    lake: str
    org_id: str
    clock: Callable[[], datetime]
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def root(self) -> str:
        return ledger_root(self.lake, self.org_id)

    def drain(self, threads: int = _THREADS) -> Synced:
        """Deliver everything that is committed by now; another process's turn is waited for."""
        from lakeguard.relay.delivering import Ledger  # Arrow takes its time to load

        batches = rows = 0
        with self._turn, self.database.sole(f"relay-{self.org_id}", _PATIENCE_SECONDS) as alone:
            ledger = Ledger(self.root, threads)
            if alone:
                ledger.ensure_tables()
            while alone and (link := self._next()) is not None:
                self._deliver(ledger, link)
                batches, rows = batches + 1, rows + link.rows
        with self.database.read() as connection:
            last = last_link(connection, self.org_id)
        return Synced(batches=batches, rows=rows, head=last.head if last else GENESIS)

    def is_idle(self) -> bool:
        """Whether the ledger has all that the State has told."""
        with self.database.read() as connection:
            return not has_waiting(connection, self.org_id)

    def _next(self) -> Link | None:
        """The first batch that the ledger has not whole; a new one where rows wait for it."""
        with self.database.read() as connection:
            known = links_after(connection, self.org_id, delivered(connection, self.org_id))
            if known or not has_waiting(connection, self.org_id):
                return known[0] if known else None
        with self.database.write() as connection:
            link = stamp(connection, self.org_id, self.clock())
        reached("relay.stamped")
        return link

    def _deliver(self, ledger: Ledger, link: Link) -> None:
        from lakeguard.relay.delivering import collect

        with self.database.read() as connection:
            shipments = collect(connection, self.org_id, link.batch)
        ledger.send(shipments, link, self.org_id)
        reached("relay.sent")
        known = owner.read_owner(self.root)
        if known is None:
            raise LedgerGone(location=self.root)
        if known.batch < link.batch:
            owner.replace(
                self.root, known.model_copy(update={"batch": link.batch, "head": link.head})
            )
        reached("relay.owner_told")
        with self.database.write() as connection:
            mark_delivered(connection, self.org_id, link.batch)
        reached("relay.marked")
