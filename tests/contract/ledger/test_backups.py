"""Backups of a State that is in use, restored: with all rows and the same chain as before, or
refused and made current from the ledger."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard.relay.attach import attach
from lakeguard.relay.rebuild import Rebuild
from lakeguard.relay.rows import state_rows
from lakeguard.relay.tables import derived_tables, fact_tables
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import audit_chain
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.errors import StateOlder
from tests.support.databases.databases import program, shared_server
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.lakes.verified_lakes import ORG, ProvenLake, make_proven_lake

Restore = Callable[[], ProvenLake]


@pytest.fixture
def lake(database: Database, tmp_path: Path) -> ProvenLake:
    made = make_proven_lake(database, tmp_path / "lake")
    made.relay.drain()
    return made


@pytest.fixture
def back_up(lake: ProvenLake, tmp_path: Path) -> Iterator[Callable[[], Restore]]:
    """Makes a backup with the tool of the database; what it returns restores it."""
    with ExitStack() as stack:

        def made() -> Restore:
            is_file = lake.database.engine.dialect.name == "sqlite"
            restored = back_up_file(lake, tmp_path) if is_file else back_up_schema(lake, stack)

            def restore() -> ProvenLake:
                found = restored()
                stack.callback(found.close)
                return ProvenLake(found, lake.folder)

            return restore

        yield made


def back_up_file(lake: ProvenLake, folder: Path) -> Callable[[], Database]:
    copy = folder / "backup.db"
    file = str(lake.database.url.database)
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return lambda: Database(f"sqlite:///{copy}")


def back_up_schema(lake: ProvenLake, stack: ExitStack) -> Callable[[], Database]:
    server, schema = shared_server(), lake.database.schema
    words = ("--format=custom", f'--schema="{schema}"', "--dbname", server.conninfo())
    dump = subprocess.run([program("pg_dump"), *words], check=True, capture_output=True).stdout

    def restored() -> Database:
        server.sql("CREATE DATABASE restored")
        stack.callback(server.sql, "DROP DATABASE restored WITH (FORCE)")
        into = ("--exit-on-error", "--dbname", server.conninfo("restored"))
        subprocess.run([program("pg_restore"), *into], input=dump, check=True, capture_output=True)
        return Database(server.url_in("restored"), schema)

    return restored


def hashes(lake: ProvenLake) -> dict[str, str]:
    """One for each table and view, and for the links of the chain, in any order."""
    with OrganisationState.of(lake.database, ORG).read() as tx:
        tables = (*fact_tables().values(), *derived_tables().values())
        held = {each.name: state_rows(tx, each, each.source.c.org_id == ORG) for each in tables}
        held["audit_chain"] = [tuple(row) for row in tx.execute(audit_chain.select())]
    return {name: content_hash(sorted(map(repr, rows))) for name, rows in held.items()}


def state_of(lake: ProvenLake) -> OrganisationState:
    return OrganisationState.of(lake.database, ORG, lambda: datetime.now(UTC))


def test_a_current_backup_is_the_state_as_it_was(
    lake: ProvenLake, back_up: Callable[[], Restore]
) -> None:
    head = lake.client.audit.head()
    restore, before = back_up(), hashes(lake)
    lake.database.close()
    again = restore()
    assert hashes(again) == before
    attach(state_of(again), again.root)
    assert again.client.audit.verify(head).changed == ()
    assert again.verify(replay=True).findings == ()
    run_by_hand(again.client, [9])
    assert again.client.audit.verify(head).changed == ()
    assert again.verify().findings == ()


def test_an_older_backup_is_refused_and_the_ledger_has_the_rest(
    lake: ProvenLake, back_up: Callable[[], Restore]
) -> None:
    restore = back_up()
    run_by_hand(lake.client, [9])
    head, before = lake.client.audit.head(), hashes(lake)
    lake.database.close()
    again = restore()
    assert hashes(again) != before
    with pytest.raises(StateOlder):
        attach(state_of(again), again.root)
    Rebuild(state_of(again), again.root).run(replace=True)
    assert hashes(again) == before
    assert again.client.audit.verify(head).changed == ()
    assert again.verify(replay=True).findings == ()
