"""Rebuilding: an empty State filled from the lake ledger alone, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, func, select

from lakeguard.relay import owner as owners
from lakeguard.relay.attaching import give_identity, owned
from lakeguard.relay.catalogue import (
    BATCH,
    CHAIN,
    LedgerTable,
    chain_table,
    fact_tables,
    ledger_tables,
)
from lakeguard.relay.chain import GENESIS, next_head
from lakeguard.relay.delivering import Ledger, collect_current
from lakeguard.relay.owner import Ownership, ledger_root, read_owner
from lakeguard.relay.recounting import Recount, links_in
from lakeguard.relay.refilling import fill, forget
from lakeguard.relay.rows import PlainRow, from_arrow
from lakeguard.relay.stamping import Link, add_link, has_waiting, mark_delivered
from lakeguard.relay.task_states import NEEDED, with_states
from lakeguard.state.database import Database
from lakeguard.state.tables import outbox
from lakeguard_sdk.errors import LedgerUnreadable, RebuildRefused, StateError
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.proof import Rebuilt

Progress = Callable[[str], None]
_PATIENCE_SECONDS = 60.0
_THREADS = 4


@dataclass
class Rebuild:
    """Of one organisation's State from its ledger."""

    database: Database
    lake: str
    org_id: str
    clock: Callable[[], datetime]
    tell: Progress = field(default=lambda _: None)

    def run(self, *, replace: bool = False) -> Rebuilt:
        """Refused where the State holds rows already, unless they are to be replaced."""
        root = ledger_root(self.lake, self.org_id)
        if read_owner(root) is None and not owners.holds_ledger(root):
            raise RebuildRefused(reason=f"there is no ledger at {root}", fix="lakeguard apply")
        self.database.migrate()
        with (
            self.database.sole(f"relay-{self.org_id}", _PATIENCE_SECONDS) as here,
            owners.alone_on_lake(root, _PATIENCE_SECONDS) as there,
        ):
            if not (here and there):
                reason = "another process is writing to the ledger"
                raise RebuildRefused(reason=reason, fix="lakeguard rebuild")
            ledger = Ledger(root, _THREADS)
            return self._restore(ledger, read_owner(root) or self._orphaned(ledger), replace)

    def _orphaned(self, ledger: Ledger) -> Ownership:
        """A ledger whose owner's file was lost says by itself how far it goes."""
        links = links_in(ledger.files(chain_table()).read())
        there = [name for name, table in ledger_tables().items() if ledger.files(table).exists()]
        return Ownership(
            organisation=self.org_id,
            state_id="",
            since=self.clock(),
            batch=links[-1].batch if links else 0,
            head=links[-1].head if links else GENESIS,
            tables=tuple(there),
        )

    def _restore(self, ledger: Ledger, owner: Ownership, replace: bool) -> Rebuilt:
        self._refuse_to_lose()
        told = {name: table for name, table in ledger_tables().items() if name in owner.tables}
        links = links_in(ledger.files(chain_table()).read()) if CHAIN in told else []
        _check_chain(links, owner)
        last = links[-1].batch if links else 0
        with self.database.write() as connection:
            undelivered = self._empty(connection, replace)
            rows = self._fill(connection, ledger, links, owner.tables)
            for link in links:
                add_link(connection, self.org_id, link)
            mark_delivered(connection, self.org_id, last)
            ahead = max((ledger.files(table).last_batch() for table in told.values()), default=0)
            dropped = self._drop_unfinished(ledger, told.values(), last) if ahead > last else 0
            if ahead > last:
                links.append(self._bridge(connection, ledger, links, ahead + 1))
            head = links[-1].head if links else GENESIS
            state_id = give_identity(connection, self.org_id, self.clock())
            batch = links[-1].batch if links else 0
            now = {"state_id": state_id, "since": self.clock(), "batch": batch, "head": head}
            reached("rebuild.filled")
            owners.replace(ledger.root, owner.model_copy(update=now))
            reached("rebuild.owner_told")
        return Rebuilt(
            rows=rows,
            batches=len(links),
            head=head,
            dropped_rows=dropped,
            undelivered_rows=undelivered,
        )

    def _empty(self, connection: Connection, replace: bool) -> int:
        """Nothing of the organisation is left; answers how many rows the ledger never had."""
        held = [
            table.name
            for table in fact_tables().values()
            if connection.execute(
                select(table.source.c.org_id).where(table.source.c.org_id == self.org_id).limit(1)
            ).first()
        ]
        if held and not replace:
            raise RebuildRefused(
                reason=f"{self.database.place} is not empty: it has rows in {held[0]}",
                fix="lakeguard rebuild --replace",
            )
        waiting = select(func.count()).select_from(outbox).where(outbox.c.org_id == self.org_id)
        undelivered = connection.scalar(waiting)
        forget(connection, self.org_id)
        return int(undelivered or 0)

    def _refuse_to_lose(self) -> None:
        """A State that could deliver what it holds is not emptied before it has."""
        try:
            owned(self.database, self.lake, self.org_id)
        except StateError:
            return
        with self.database.read() as connection:
            if has_waiting(connection, self.org_id):
                reason = f"{self.database.place} holds rows that the ledger has not yet"
                raise RebuildRefused(reason=reason, fix="lakeguard sync")

    def _fill(
        self, connection: Connection, ledger: Ledger, links: list[Link], told: Collection[str]
    ) -> int:
        """Every row of a finished batch, table after table; all of them hash to the chain."""
        finished, recount, count = {link.batch for link in links}, Recount(), 0
        kept: dict[str, list[PlainRow]] = {}
        waiting: list[LedgerTable] = []
        for name, table in fact_tables().items():
            files = ledger.files(table)
            data = files.read() if name in told else files.schema.empty_table()
            batches = data[BATCH].to_pylist()
            if not finished.issuperset(batches):
                data = data.filter([batch in finished for batch in batches])
            rows = from_arrow(table, data)
            recount.add(table, rows, data)
            self.tell(f"{name}: {len(rows):,} rows")
            count += len(rows)
            kept[name] = rows
            waiting.append(table)
        _check_rows(links, recount, ledger.root)
        for table in waiting:
            columns, full = with_states(table, kept)
            fill(connection, table.source, columns, full)
            if table.name not in NEEDED:
                kept[table.name] = []
        return count

    def _drop_unfinished(self, ledger: Ledger, tables: Iterable[LedgerTable], last: int) -> int:
        """A batch whose link was never written is told by nobody: its rows go."""
        dropped = 0
        for table in tables:
            files = ledger.files(table)
            if files.last_batch() > last:
                dropped += files.forget_after(last, BATCH)
        return dropped

    def _bridge(
        self, connection: Connection, ledger: Ledger, links: list[Link], batch: int
    ) -> Link:
        """A link without rows, so that no later batch has a number that a table has seen. With it
        the views of definitions are shown anew: the batch that was dropped may have changed them.
        """
        previous = links[-1].head if links else GENESIS
        head = next_head(previous, batch, ())
        link = Link(batch, 0, "{}", previous, head, self.clock())
        add_link(connection, self.org_id, link)
        ledger.send(collect_current(connection, self.org_id), link, self.org_id)
        mark_delivered(connection, self.org_id, batch)
        return link


def _check_chain(links: list[Link], owner: Ownership) -> None:
    previous = GENESIS
    for link in links:
        if link.previous != previous:
            raise LedgerUnreadable(
                location="audit_chain", reason=f"batch {link.batch} does not follow from the last"
            )
        previous = link.head
    if owner.batch and not any((k.batch, k.head) == (owner.batch, owner.head) for k in links):
        raise LedgerUnreadable(
            location="audit_chain", reason=f"it ends before batch {owner.batch} of plane.json"
        )


def _check_rows(links: Iterable[Link], recount: Recount, root: str) -> None:
    for link in links:
        if recount.head(link) != link.head:
            raise LedgerUnreadable(
                location=root, reason=f"the rows of batch {link.batch} are not those that were told"
            )
