"""Small States that tell, and the ledgers that hear: rows of one table are enough for the relay."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import text

from lakeguard.relay.attach import attach
from lakeguard.relay.chain_recount import Recount, links_in
from lakeguard.relay.deliver import Ledger
from lakeguard.relay.owner import ledger_root
from lakeguard.relay.relay import Relay
from lakeguard.relay.rows import from_arrow, state_rows
from lakeguard.relay.tables import chain_table, fact_tables
from lakeguard.state import outbox
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import documents
from tests.support.projects.projects import location_of

if TYPE_CHECKING:
    from tests.support.lakes.s3_server import StorePath

ORG = "default"


def now() -> datetime:
    return datetime.now(UTC)


def relay_of(database: Database, lake: Path | StorePath | str) -> Relay:
    """A relay of a State that owns the lake, as connecting gives it."""
    database.migrate()
    attach(OrganisationState.of(database, ORG, now), location_of(lake))
    return Relay(OrganisationState.of(database, ORG, now), location_of(lake))


def tell(database: Database, names: Iterable[str]) -> None:
    """One transaction that adds a document for each name."""
    with OrganisationState.of(database, ORG).write() as tx:
        outbox.record(tx, documents, document_rows(names), now())


def document_rows(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"org_id": ORG, "content_hash": name, "body": f'"{name}"'} for name in names]


def ledger_of(lake: Path | StorePath) -> Ledger:
    return Ledger(ledger_root(location_of(lake), ORG), 1)


def heard(lake: Path | StorePath) -> list[str]:
    """The names of all documents that the ledger holds, as often as it holds them."""
    return sorted(_column(ledger_of(lake).files(fact_tables()["documents"]).read()))


def _column(data: pa.Table) -> list[str]:
    return [str(value) for value in data["content_hash"].to_pylist()]


def assert_in_step(database: Database, lake: Path | StorePath) -> None:
    """Every row is in both, once; the chain covers them; nothing waits."""
    ledger, recount = ledger_of(lake), Recount()
    with OrganisationState.of(database, ORG).read() as tx:
        assert tx.scalar(text("SELECT count(*) FROM outbox")) == 0
        for table in fact_tables().values():
            data = ledger.files(table).read()
            rows = from_arrow(table, data)
            recount.add(table, rows, data)
            held = state_rows(tx, table, table.source.c.org_id == ORG)
            assert sorted(map(repr, rows)) == sorted(map(repr, held)), table.name
        chain = state_rows(tx, chain_table(), chain_table().source.c.org_id == ORG)
    data = ledger.files(chain_table()).read()
    assert sorted(from_arrow(chain_table(), data)) == sorted(chain)
    links = links_in(data)
    assert {link.batch for link in links if link.rows} == set(recount.batches)
    assert [recount.head(link) for link in links] == [link.head for link in links]
