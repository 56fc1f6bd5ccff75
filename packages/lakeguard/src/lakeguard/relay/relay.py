"""The relay: outbox rows go to the lake ledger, batch by batch, exactly once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeguard.relay import owner
from lakeguard.relay.attach import owned
from lakeguard.relay.chain import GENESIS
from lakeguard.relay.lake_lock import alone_on_lake
from lakeguard.relay.owner import Ownership, ledger_root
from lakeguard.relay.stamp import (
    Stamped,
    delivered,
    has_waiting,
    last_link,
    links_after,
    mark_delivered,
    rows_of,
    stamp,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import LedgerUnreadable, StateUnavailable
from lakeguard_sdk.model.verification import Synced
from lakeguard_sdk.storage.fault_points import reached

if TYPE_CHECKING:
    from lakeguard.relay.deliver import Ledger

_PATIENCE_SECONDS = 60.0
_THREADS = 4


@contextmanager
def _writable(root: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerUnreadable(
            location=root, reason=f"not writable: {error.strerror or error}"
        ) from error


@dataclass(eq=False)
class Relay:
    """The relay of one organisation and lake. Thread- and process-safe."""

    state: OrganisationState
    lake: str
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def root(self) -> str:
        return ledger_root(self.lake, self.state.org_id)

    def drain(self, threads: int = _THREADS, until: float | None = None) -> Synced:
        """Deliver everything committed so far; waits for another process that is delivering.

        Ignores ``until``: the ledger must be complete, because a State is rebuilt from it.
        """
        from lakeguard.relay.deliver import Ledger  # Arrow is slow to import

        batches = rows = 0
        with self._turn, _writable(self.root), self._alone():
            ledger = Ledger(self.root, threads)
            self._create_tables(ledger)
            while (stamped := self._next()) is not None:
                self._deliver(ledger, stamped)
                batches, rows = batches + 1, rows + stamped.link.rows
        with self.state.read() as tx:
            last = last_link(tx)
        return Synced(batches=batches, rows=rows, head=last.head if last else GENESIS)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one process per State, and one State per lake, delivers at a time."""
        with (
            self.state.database.sole(f"relay-{self.state.org_id}", _PATIENCE_SECONDS) as here,
            alone_on_lake(self.root, _PATIENCE_SECONDS if here else 0.0) as there,
        ):
            if not (here and there):
                reason = "another process has been writing to the ledger for a minute"
                raise StateUnavailable(place=self.state.database.place, reason=reason)
            yield

    def is_idle(self) -> bool:
        """Whether the ledger is up to date with the outbox."""
        with self.state.read() as tx:
            return not has_waiting(tx)

    def _create_tables(self, ledger: Ledger) -> None:
        """Create tables that the ledger never had; a deleted one is not recreated silently."""
        known = self._owner()
        made = ledger.create_tables(known.tables)
        if made:
            after = known.model_copy(update={"tables": (*known.tables, *made)})
            owner.replace(self.root, known, after)

    def _owner(self) -> Ownership:
        """Checked before every write: another State may have taken the lake over."""
        return owned(self.state, self.lake)

    def _next(self) -> Stamped | None:
        """The first incomplete batch, or a new one if rows are waiting."""
        with self.state.read() as tx:
            known = links_after(tx, delivered(tx))
            if known:
                return Stamped(known[0], rows_of(tx, known[0].batch))
            if not has_waiting(tx):
                return None
        with self.state.write() as tx:
            stamped = stamp(tx)
        reached("relay.stamped")
        return stamped

    def _deliver(self, ledger: Ledger, stamped: Stamped) -> None:
        from lakeguard.relay.deliver import collect

        link, known = stamped.link, self._owner()
        with self.state.read() as tx:
            shipments = collect(tx, stamped.rows)
        ledger.send(shipments, link, self.state.org_id)
        reached("relay.sent")
        if known.batch < link.batch:
            after = known.model_copy(update={"batch": link.batch, "head": link.head})
            owner.replace(self.root, known, after)
        reached("relay.owner_updated")
        with self.state.write() as tx:
            mark_delivered(tx, link.batch)
        reached("relay.marked")
