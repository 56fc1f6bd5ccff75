"""A small lake with a history, told to its ledger; and what those can do to it who hold it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake
from sqlalchemy import insert

from lakeguard.insight.history.port import StateHistory
from lakeguard.insight.reader.reader import StateReader
from lakeguard.insight.verification import verify
from lakeguard.lake.delta import DeltaTables
from lakeguard.notifications.sender import NotificationSender
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.records.sql_repository import SqlRepository
from lakeguard.relay.attach import attach
from lakeguard.relay.chain_recount import Recount, links_in
from lakeguard.relay.deliver import Ledger
from lakeguard.relay.owner import ledger_root, read_owner, replace, table_location
from lakeguard.relay.relay import Relay
from lakeguard.relay.rows import from_arrow
from lakeguard.relay.signed_head import SigningKey
from lakeguard.relay.tables import (
    BATCH,
    CHAIN,
    fact_tables,
    ledger_tables,
)
from lakeguard.services.ports.audit import EmbeddedAudit
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.services.ports.ledger import EmbeddedLedger
from lakeguard.services.ports.notifications import EmbeddedNotifications
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.services.ports.registry import EmbeddedRegistry
from lakeguard.state.append_only_triggers import missing_guards
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import outbox
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.model.verification import FindingKind, VerifyReport
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS, numbers_definitions

ORG = "default"
TABLE = "bronze/numbers"


@dataclass(frozen=True)
class ProvenLake:
    """A State, its lake and its ledger."""

    database: Database
    folder: Path
    location: str = ""
    """Of the lake, if it is not the folder itself."""

    @property
    def root(self) -> str:
        return self.location or str(self.folder)

    @property
    def client(self) -> Client:
        context = PlaneContext(
            database=self.database,
            tables=DeltaTables(),
            org_id=ORG,
            lake=self.root,
            clock=lambda: datetime.now(UTC),
            actor="tester",
        )
        return Client(
            reader=StateReader(OrganisationState.of(self.database, ORG), context.lake),
            runs=PromotionRuns(context),
            registry=EmbeddedRegistry(context),
            operations=EmbeddedOperations(context),
            ledger=EmbeddedLedger(context, self.relay),
            audit=EmbeddedAudit(context, self.relay, SigningKey(self.folder / "audit.pem")),
            notifications=EmbeddedNotifications(
                context, {topic: NotificationSender(context, topic, ()) for topic in Topic}
            ),
            jobs=EmbeddedJobs(context),
            dispatch=EmbeddedDispatch(context),
            records=SqlRepository(context),
            history=StateHistory(OrganisationState.of(self.database, ORG), context.lake),
            lake=context.lake,
        )

    @property
    def relay(self) -> Relay:
        return Relay(OrganisationState.of(self.database, ORG, lambda: datetime.now(UTC)), self.root)

    @property
    def table(self) -> Path:
        return self.folder / TABLE

    def verify(self, *, replay: bool = False, head: str | None = None) -> VerifyReport:
        """As it is: nothing is delivered first."""
        return verify(
            OrganisationState.of(self.database, ORG),
            self.root,
            DeltaTables(),
            replay=replay,
            head=head,
            progress=None,
        )

    def found(self, **how: Any) -> dict[FindingKind, list[str]]:
        """The places of what is found, by kind."""
        found: dict[FindingKind, list[str]] = {}
        for finding in self.verify(**how).findings:
            found.setdefault(finding.kind, []).append(finding.place)
        return found

    # ----------------------------------------------------------- what the database's owner can do

    def sql(self, table: str, *statements: str) -> None:
        """Changes a guarded table, as only its owner can: the guards are taken away, and put back
        so that nothing shows."""
        names = ["no_update", "no_delete"]
        on = f" ON {table}" if self.database.engine.dialect.name == "postgresql" else ""
        with self.database.write() as connection:
            for name in names:
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_{name}{on}")
            for statement in statements:
                assert connection.exec_driver_sql(statement).rowcount != 0, statement
            for statement in missing_guards(connection).values():
                connection.exec_driver_sql(statement)

    def queue(self, topic: str, payload: str, batch: int) -> None:
        """A row into the queue, as if the relay had stamped it."""
        row = {"org_id": ORG, "topic": topic, "payload": payload, "batch": batch}
        with self.database.write() as connection:
            connection.execute(insert(outbox).values(**row, created_at=datetime.now(UTC)))

    def value(self, query: str) -> Any:
        with self.database.read() as connection:
            return connection.exec_driver_sql(query).scalar_one()

    # ------------------------------------------------------------ what a holder of the lake can do

    @property
    def ledger(self) -> Ledger:
        return Ledger(ledger_root(self.root, ORG), 1)

    def ledger_folder(self, name: str) -> Path:
        return Path(table_location(ledger_root(str(self.folder), ORG), name))

    def ledger_files(self, name: str) -> list[Path]:
        found = DeltaTable(str(self.ledger_folder(name))).file_uris()
        return [Path(uri.removeprefix("file://")) for uri in sorted(found)]

    def ledger_rows(self, name: str) -> pa.Table:
        return self.ledger.files(ledger_tables()[name]).read()

    def rewrite_ledger(self, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
        """By a proper commit, as any Delta writer makes one."""
        changed = change(self.ledger_rows(name))
        write_deltalake(str(self.ledger_folder(name)), changed, mode="overwrite")

    def append_to_ledger(self, name: str, rows: pa.Table) -> None:
        write_deltalake(str(self.ledger_folder(name)), rows, mode="append")

    def forget_last_batch(self) -> str:
        """On both sides, the mark included, plane.json aside; answers the head that is gone."""
        last = self.value("SELECT max(batch) FROM audit_chain")
        head = str(self.value(f"SELECT head FROM audit_chain WHERE batch = {last}"))
        for name, table in reversed(fact_tables().items()):
            for row in from_arrow(table, _of_batch(self.ledger_rows(name), last)):
                named = dict(zip(table.columns, row, strict=True))
                keys = [column.name for column in table.source.primary_key]
                same = " AND ".join(f"{key} = '{named[key]}'" for key in keys)
                self.sql(name, f"DELETE FROM {name} WHERE {same}")
        self.sql(CHAIN, f"DELETE FROM {CHAIN} WHERE batch = {last}")
        self.sql("relay_cursors", f"UPDATE relay_cursors SET batch = {last - 1}")
        for name in (*fact_tables(), CHAIN):
            if _of_batch(self.ledger_rows(name), last).num_rows:
                DeltaTable(str(self.ledger_folder(name))).delete(f"{BATCH} = {last}")
        return head

    def forge_chain(self) -> None:
        """Computes every head again, in State, ledger and plane.json, as one who holds all."""
        recount = Recount()
        for name, table in fact_tables().items():
            data = self.ledger_rows(name)
            recount.add(table, from_arrow(table, data), data)
        links, previous = [], None
        for link in links_in(self.ledger_rows(CHAIN)):
            follows = link._replace(previous=previous or link.previous)
            previous = recount.head(follows)
            links.append(follows._replace(head=previous))
            self.sql(
                CHAIN,
                f"UPDATE {CHAIN} SET head = '{previous}', previous = '{follows.previous}'"
                f" WHERE batch = {link.batch}",
            )
        columns = {"head": [k.head for k in links], "previous": [k.previous for k in links]}
        self.rewrite_ledger(CHAIN, lambda data: _with_columns(data.sort_by("batch"), columns))
        owner = read_owner(self.ledger.root)
        assert owner is not None
        assert owner.batch == links[-1].batch
        replace(self.ledger.root, owner, owner.model_copy(update={"head": links[-1].head}))


def make_proven_lake(database: Database, folder: Path, location: str = "") -> ProvenLake:
    """Three versions, a rollback, a fourth; each told in a batch of its own."""
    database.migrate()
    lake = ProvenLake(database, folder, location)
    attach(OrganisationState.of(database, ORG, lambda: datetime.now(UTC)), lake.root)
    client = lake.client
    client.registry.apply(client.registry.plan(numbers_definitions(LoadType.APPEND)))
    for numbers in ([1, 2], [3], [4, 5]):
        run_by_hand(client, numbers, source_file=f"numbers/{numbers[0]}.csv")
        lake.relay.drain()
    client.operations.rollback(NUMBERS, 2, "the third was wrong")
    run_by_hand(client, [6, 7], source_file="numbers/6.csv")
    lake.relay.drain()
    return lake


def set_value(data: pa.Table, column: str, row: int, value: Any) -> pa.Table:
    values = data[column].to_pylist()
    values[row] = value
    return _with_columns(data, {column: values})


def write_rows(file: Path, data: pa.Table) -> None:
    pq.write_table(data, file, compression="zstd")


def _with_columns(data: pa.Table, columns: dict[str, list[Any]]) -> pa.Table:
    for name, values in columns.items():
        place = data.schema.get_field_index(name)
        data = data.set_column(place, data.schema.field(name), pa.array(values, data[name].type))
    return data


def _of_batch(data: pa.Table, batch: int) -> pa.Table:
    return data.filter(pc.equal(data[BATCH], batch))
