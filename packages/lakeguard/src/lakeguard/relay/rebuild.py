"""Rebuilds an empty State from the lake ledger, in one transaction."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Table, and_, delete, func, select, text

from lakeguard.registry.search_entries import rewrite_search_entries
from lakeguard.relay import owner as owners
from lakeguard.relay.attach import give_identity, owned
from lakeguard.relay.chain import GENESIS, next_head
from lakeguard.relay.chain_recount import Recount, links_in
from lakeguard.relay.deliver import Ledger, collect_current
from lakeguard.relay.lake_lock import alone_on_lake
from lakeguard.relay.owner import Ownership, ledger_root, read_owner
from lakeguard.relay.rows import PlainRow, from_arrow
from lakeguard.relay.stamp import (
    Link,
    add_link,
    has_waiting,
    mark_delivered,
)
from lakeguard.relay.tables import (
    BATCH,
    CHAIN,
    LedgerTable,
    chain_table,
    fact_tables,
    ledger_tables,
)
from lakeguard.state.append_only_triggers import missing_guards
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import access_revocations, metadata, outbox, service_tokens
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import LedgerUnreadable, RebuildRefused, StateError
from lakeguard_sdk.model.verification import Rebuilt
from lakeguard_sdk.storage.fault_points import reached

# Mutable task columns, derived from recorded transitions and attempts.

NEEDED = ("tasks", "task_attempts", "task_transitions")
"""Tables that determine the state of tasks."""

_ADDED = ("state", "due_at", "changes", "ended_at", "attempt", "run_id", "worker")


def _with_states(
    table: LedgerTable, rows: Mapping[str, Sequence[PlainRow]]
) -> tuple[tuple[str, ...], Sequence[PlainRow]]:
    """Columns and rows to insert. A running task loses its lease, so the next writing command
    ends it."""
    if table.name != "tasks":
        return table.columns, rows[table.name]
    tried = _latest(_pick(rows, "task_attempts", "task_id", "attempt", "run_id", "worker"))
    changed = _latest(
        _pick(rows, "task_transitions", "task_id", "number", "to_state", "due_at", "at")
    )
    task_id = table.columns.index("task_id")
    for row in rows["tasks"]:
        if row[task_id] not in changed:
            reason = f"task {row[task_id]} has no transition"
            raise LedgerUnreadable(location="task_transitions", reason=reason)
    full = [
        (*row, *_added(changed[row[task_id]], tried.get(row[task_id]))) for row in rows["tasks"]
    ]
    return (*table.columns, *_ADDED), full


def _latest(numbered: Sequence[PlainRow]) -> dict[str, PlainRow]:
    """The row with the highest number per task."""
    found: dict[str, PlainRow] = {}
    for row in numbered:
        if row[0] not in found or found[row[0]][1] < row[1]:
            found[row[0]] = row
    return found


def _added(change: PlainRow, attempt: PlainRow | None) -> PlainRow:
    _, number, run_id, worker = attempt or (None, 0, None, None)
    _, changes, state, due_at, at = change
    ended_at = at if state == TaskState.COMPLETED.value else None
    return (state, due_at, changes, ended_at, number, run_id, worker)


def _pick(rows: Mapping[str, Sequence[PlainRow]], name: str, *columns: str) -> list[Any]:
    places = [fact_tables()[name].columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in rows[name]]


Progress = Callable[[str], None]
_PATIENCE_SECONDS = 60.0
_THREADS = 4


@dataclass
class Rebuild:
    """Rebuild of one organisation's State from its ledger."""

    state: OrganisationState
    lake: str
    progress: Progress = field(default=lambda _: None)

    def run(self, *, replace: bool = False) -> Rebuilt:
        """Refused if the State has rows, unless ``replace``."""
        root = ledger_root(self.lake, self.state.org_id)
        if read_owner(root) is None and not owners.holds_ledger(root):
            raise RebuildRefused(reason=f"there is no ledger at {root}", fix="lakeguard apply")
        self.state.database.migrate()
        with (
            self.state.database.sole(f"relay-{self.state.org_id}", _PATIENCE_SECONDS) as here,
            alone_on_lake(root, _PATIENCE_SECONDS) as there,
        ):
            if not (here and there):
                reason = "another process is writing to the ledger"
                raise RebuildRefused(reason=reason, fix="lakeguard rebuild")
            return self._restore(Ledger(root, _THREADS), read_owner(root), replace)

    def _orphaned(self, ledger: Ledger) -> Ownership:
        """The owner, or one derived from the chain if ``plane.json`` was lost."""
        links = links_in(ledger.files(chain_table()).read())
        there = [name for name, table in ledger_tables().items() if ledger.files(table).exists()]
        return Ownership(
            organisation=self.state.org_id,
            state_id="",
            since=self.state.clock(),
            batch=links[-1].batch if links else 0,
            head=links[-1].head if links else GENESIS,
            tables=tuple(there),
        )

    def _restore(self, ledger: Ledger, known: Ownership | None, replace: bool) -> Rebuilt:
        owner = known or self._orphaned(ledger)
        self._refuse_to_lose()
        recorded = {name: table for name, table in ledger_tables().items() if name in owner.tables}
        links = links_in(ledger.files(chain_table()).read()) if CHAIN in recorded else []
        _check_chain(links, owner)
        last = links[-1].batch if links else 0
        with self.state.write() as tx:
            undelivered = self._empty(tx, replace)
            rows = self._fill(tx, ledger, links, owner.tables)
            rewrite_search_entries(tx)
            for link in links:
                add_link(tx, link)
            mark_delivered(tx, last)
            ahead = max(
                (ledger.files(table).last_batch() for table in recorded.values()), default=0
            )
            dropped = self._drop_unfinished(ledger, recorded.values(), last) if ahead > last else 0
            if ahead > last:
                links.append(self._bridge(tx, ledger, links, ahead + 1))
            self._name_tokens(tx)
            head = links[-1].head if links else GENESIS
            state_id = give_identity(tx, tx.now())
            batch = links[-1].batch if links else 0
            now = {"state_id": state_id, "since": tx.now(), "batch": batch, "head": head}
            reached("rebuild.filled")
            owners.replace(ledger.root, known, owner.model_copy(update=now))
            reached("rebuild.owner_updated")
        return Rebuilt(
            rows=rows,
            batches=len(links),
            head=head,
            dropped_rows=dropped,
            undelivered_rows=undelivered,
        )

    def _empty(self, tx: Transaction, replace: bool) -> int:
        """Delete the organisation's rows; return how many the ledger never had."""
        held = [
            table.name
            for table in fact_tables().values()
            if tx.execute(
                select(table.source.c.org_id).where(table.source.c.org_id == tx.org_id).limit(1)
            ).first()
        ]
        if held and not replace:
            raise RebuildRefused(
                reason=f"{self.state.database.place} is not empty: it has rows in {held[0]}",
                fix="lakeguard rebuild --replace",
            )
        waiting = select(func.count()).select_from(outbox).where(outbox.c.org_id == tx.org_id)
        undelivered = tx.scalar(waiting)
        _forget(tx)
        return int(undelivered or 0)

    def _refuse_to_lose(self) -> None:
        """Deliver what the State holds before it is emptied, if it can."""
        try:
            owned(self.state, self.lake)
        except StateError:
            return
        with self.state.read() as tx:
            if has_waiting(tx):
                reason = f"{self.state.database.place} holds rows that the ledger has not yet"
                raise RebuildRefused(reason=reason, fix="lakeguard sync")

    def _fill(
        self, tx: Transaction, ledger: Ledger, links: list[Link], recorded: Collection[str]
    ) -> int:
        """Load all rows of complete batches, table by table, and check them against the chain."""
        finished, recount, count = {link.batch for link in links}, Recount(), 0
        loaded: dict[str, list[PlainRow]] = {}
        waiting: list[LedgerTable] = []
        for name, table in fact_tables().items():
            files = ledger.files(table)
            data = files.read() if name in recorded else files.schema.empty_table()
            batches = data[BATCH].to_pylist()
            if not finished.issuperset(batches):
                data = data.filter([batch in finished for batch in batches])
            rows = from_arrow(table, data)
            recount.add(table, rows, data)
            self.progress(f"{name}: {len(rows):,} {'row' if len(rows) == 1 else 'rows'}")
            count += len(rows)
            loaded[name] = rows
            waiting.append(table)
        _check_rows(links, recount, ledger.root)
        for table in waiting:
            columns, full = _with_states(table, loaded)
            _fill(tx, table.source, columns, full)
            if table.name not in NEEDED:
                loaded[table.name] = []
        return count

    def _name_tokens(self, tx: Transaction) -> None:
        """The ledger has no secrets, so each active service token needs a new one."""
        table, gone = service_tokens.c, access_revocations.c
        over = and_(gone.org_id == table.org_id, gone.revoked_id == table.token_id)
        held = select(table.token_name).outerjoin(access_revocations, over)
        names = held.where(table.org_id == tx.org_id, gone.revoked_id.is_(None))
        for name in tx.scalars(names.order_by(table.token_name)):
            command = shlex.join(["lakeguard", "token", "rotate", name])
            self.progress(f"service token {name} needs a new secret: {command}")

    def _drop_unfinished(self, ledger: Ledger, tables: Iterable[LedgerTable], last: int) -> int:
        """Delete rows of a batch whose link was never written."""
        dropped = 0
        for table in tables:
            files = ledger.files(table)
            if files.last_batch() > last:
                dropped += files.forget_after(last, BATCH)
        return dropped

    def _bridge(self, tx: Transaction, ledger: Ledger, links: list[Link], batch: int) -> Link:
        """Write an empty link, so that no later batch reuses a number that a table has seen, and
        rewrite the definition views, which the dropped batch may have changed.
        """
        previous = links[-1].head if links else GENESIS
        head = next_head(previous, batch, ())
        link = Link(batch, 0, "{}", previous, head, tx.now())
        add_link(tx, link)
        ledger.send(collect_current(tx), link, tx.org_id)
        mark_delivered(tx, batch)
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
                location=root, reason=f"the rows of batch {link.batch} do not match the audit chain"
            )


# Bulk loads into and deletes from append-only tables: only a rebuild may do this.


def _fill(tx: Transaction, table: Table, columns: Sequence[str], rows: Sequence[PlainRow]) -> None:
    """Insert rows unchanged."""
    if not rows:
        return
    quote = tx.dialect.identifier_preparer.quote
    target = f"{quote(table.name)} ({', '.join(map(quote, columns))})"
    if tx.dialect.name == "postgresql":
        _copy(tx, table, target, rows)
        _move_sequence(tx, table)
    else:
        marks = ", ".join("?" * len(columns))
        tx.connection.exec_driver_sql(f"INSERT INTO {target} VALUES ({marks})", list(rows))  # noqa: S608 - names of ours


_BESIDE = frozenset({"metadata_kinds", "metadata_records", "record_positions"})
"""The State is the only place of metadata records, and no fact of the ledger refers to them."""


def _forget(tx: Transaction) -> None:
    """Delete all rows of an organisation but its metadata records; foreign tables are left
    alone."""
    for table in reversed(metadata.sorted_tables):
        if table.name in _BESIDE:
            continue
        _unguard(tx, table)
        tx.execute(delete(table).where(table.c.org_id == tx.org_id))
    for statement in missing_guards(tx.connection).values():
        tx.connection.exec_driver_sql(statement)


def _unguard(tx: Transaction, table: Table) -> None:
    quote = tx.dialect.identifier_preparer.quote
    on = f" ON {quote(table.name)}" if tx.dialect.name == "postgresql" else ""
    tx.connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {quote(table.name + '_no_delete')}{on}")


def _copy(tx: Transaction, table: Table, target: str, rows: Sequence[PlainRow]) -> None:
    """PostgreSQL refuses COPY into a table whose policies bind the role. They do not bind the owner
    meanwhile; other sessions do not see that, because the transaction locks the table."""
    name = tx.dialect.identifier_preparer.quote_identifier(table.name)
    bound = tx.scalar(_BOUND, {"table": name})
    if bound:
        tx.connection.exec_driver_sql(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")
    _copy_rows(tx, target, rows)
    if bound:
        tx.connection.exec_driver_sql(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")


_BOUND = text("SELECT relforcerowsecurity FROM pg_catalog.pg_class WHERE oid = to_regclass(:table)")


def _copy_rows(tx: Transaction, target: str, rows: Sequence[PlainRow]) -> None:
    cursor = tx.connection.connection.cursor()
    with cursor.copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _move_sequence(tx: Transaction, table: Table) -> None:
    """Advance sequences beyond the loaded ids."""
    numbered = table.autoincrement_column
    if numbered is None:
        return
    highest = tx.scalar(select(func.max(numbered)))
    tx.execute(
        text("SELECT setval(pg_get_serial_sequence(:table, :column), :highest)"),
        {"table": table.name, "column": numbered.name, "highest": highest},
    )
