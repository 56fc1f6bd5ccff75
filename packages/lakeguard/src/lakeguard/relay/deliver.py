"""Delivers one batch from the outbox to the ledger's tables, then its chain link."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sqlalchemy import ColumnElement

from lakeguard.relay.ended_runs import ended_by
from lakeguard.relay.ledger_table import LedgerFiles
from lakeguard.relay.owner import protect, table_location
from lakeguard.relay.rows import PlainRow, arrow_schema, payload_maker, state_rows, to_arrow
from lakeguard.relay.stamp import Link, OutboxRow
from lakeguard.relay.tables import (
    BY_RUN,
    CURRENT,
    EXECUTIONS,
    PROTECTED,
    LedgerTable,
    chain_table,
    derived_tables,
    fact_tables,
    ledger_tables,
)
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.storage.fault_points import reached


@dataclass(frozen=True)
class Shipment:
    """Rows for one table of the ledger."""

    table: LedgerTable
    payloads: Sequence[str]
    ordinals: Sequence[int]
    whole: bool = False
    """Replaces all rows of the table."""


class Ledger:
    """The ledger's tables under one root."""

    def __init__(self, root: str, threads: int) -> None:
        self.root = root
        self.threads = threads

    def files(self, table: LedgerTable) -> LedgerFiles:
        return LedgerFiles(table_location(self.root, table.name), arrow_schema(table))

    def create_tables(self, known: Collection[str]) -> list[str]:
        """Create missing tables, empty; return their names."""
        new = {name: table for name, table in ledger_tables().items() if name not in known}
        if not PROTECTED.keys().isdisjoint(new):
            protect(self.root)
        self._side_by_side([self.files(table).ensure for table in new.values()])
        return list(new)

    def send(self, shipments: Sequence[Shipment], link: Link, org_id: str) -> None:
        """Write the batch's rows, then its link: a batch with a link is complete."""
        senders = [_sender(self.files(each.table), each, link.batch) for each in shipments]
        self._side_by_side(senders)
        reached("ledger.rows_sent")
        chain = Shipment(chain_table(), [link_payload(org_id, link)], [0])
        _sender(self.files(chain.table), chain, link.batch)()

    def _side_by_side(self, calls: Sequence[Callable[[], None]]) -> None:
        if self.threads == 1 or len(calls) < 2:
            for call in calls:
                call()
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for done in [pool.submit(call) for call in calls]:
                done.result()


def collect(tx: Transaction, outbox_rows: Sequence[OutboxRow]) -> list[Shipment]:
    """Rows of a batch by table: outbox rows and the view rows derived from them."""
    return [*_fact_shipments(outbox_rows), *_derived_shipments(tx, outbox_rows)]


def collect_current(tx: Transaction) -> list[Shipment]:
    """The current rows of every definition view."""
    return [_current(tx, derived_tables()[name]) for name in CURRENT]


def link_payload(org_id: str, link: Link) -> str:
    row = {**link._asdict(), "org_id": org_id}
    return outbox.payloads([row], chain_table().columns)[0]


def _sender(files: LedgerFiles, shipment: Shipment, batch: int) -> Callable[[], None]:
    def send() -> None:
        rows = to_arrow(shipment.table, shipment.payloads, batch, shipment.ordinals)
        (files.replace if shipment.whole else files.append)(rows, batch)

    return send


def _fact_shipments(outbox_rows: Sequence[OutboxRow]) -> Iterator[Shipment]:
    by_topic: dict[str, tuple[list[str], list[int]]] = {}
    for ordinal, row in enumerate(outbox_rows):
        payloads, ordinals = by_topic.setdefault(row.topic, ([], []))
        payloads.append(row.payload)
        ordinals.append(ordinal)
    for topic, (payloads, ordinals) in by_topic.items():
        yield Shipment(fact_tables()[topic], payloads, ordinals)


def _derived_shipments(tx: Transaction, outbox_rows: Sequence[OutboxRow]) -> Iterator[Shipment]:
    topics = {row.topic for row in outbox_rows}
    for name, sources in CURRENT.items():
        if topics & set(sources):
            yield _current(tx, derived_tables()[name])
    for name, ids in ended_by(tx, outbox_rows).items():
        rows = list(_rows_of_runs(tx, derived_tables()[name], BY_RUN[name], ids))
        if rows:
            yield _shipment(derived_tables()[name], rows)


def _current(tx: Transaction, table: LedgerTable) -> Shipment:
    rows = state_rows(tx, table, table.source.c.org_id == tx.org_id)
    return _shipment(table, rows, whole=True)


def _shipment(table: LedgerTable, rows: Sequence[PlainRow], whole: bool = False) -> Shipment:
    payloads = list(map(payload_maker(table), rows))
    return Shipment(table, payloads, range(len(payloads)), whole)


def _rows_of_runs(
    tx: Transaction, table: LedgerTable, key: str, runs: Mapping[str, str]
) -> Iterator[PlainRow]:
    """Also filter executions by task: not every execution id is indexed."""
    ids = list(runs)
    for some in in_pieces(ids):
        chosen: ColumnElement[bool] = table.source.columns[key].in_(some)
        if table.name == EXECUTIONS:
            chosen &= table.source.columns.task_id.in_(sorted({runs[each] for each in some}))
        yield from state_rows(tx, table, chosen)
