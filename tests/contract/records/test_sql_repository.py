"""Records in the State: what only a database can get wrong."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from lakeguard.plane import rebuild_embedded
from lakeguard.records.sql_repository import SqlRepository
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import metadata_records
from lakeguard_sdk import connect
from lakeguard_sdk.errors import RecordsDamaged
from lakeguard_sdk.records.query import MetadataQuery
from tests.support.cases.records import FLIGHTS, volume
from tests.support.projects.projects import numbers_project

_numbers = count(1)
_table = metadata_records.c


@pytest.fixture
def own(state: Database) -> OrganisationState:
    return OrganisationState.of(state, f"sql_{next(_numbers)}", actor="tester")


@pytest.fixture
def repository(own: OrganisationState) -> SqlRepository:
    return SqlRepository(own)


def test_organisations_see_their_own_records(state: Database, own: OrganisationState) -> None:
    other = OrganisationState.of(state, f"sql_{next(_numbers)}")
    SqlRepository(own).store(volume(1, tenant=own.org_id))
    SqlRepository(other).store(volume(2, tenant=other.org_id))
    for each, rows in ((own, 1), (other, 2)):
        repository = SqlRepository(each)
        found = [
            repository.latest(FLIGHTS, "ingestion_volume"),
            *repository.history(FLIGHTS, "ingestion_volume"),
            *repository.query(MetadataQuery()),
            *repository.tail(),
        ]
        assert [record and record.payload["rows"] for record in found] == [rows] * 4


def test_many_writers_of_the_same_facts_store_each_once(
    state: Database, own: OrganisationState
) -> None:
    batch = [volume(n, run=f"r{n}", tenant=own.org_id) for n in range(20)]

    def store(turn: int) -> int:
        chosen = batch if turn % 2 else list(reversed(batch))
        return sum(each.is_new for each in SqlRepository(own).bulk_store(chosen))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(store, range(8))) == 20
    tail = SqlRepository(own).tail()
    assert sorted(each.payload["rows"] for each in tail) == list(range(20))


def test_tail_leaves_out_nothing_that_commits_late(own: OrganisationState) -> None:
    """Readers follow while writers race: each record is met once."""
    writers, each = 4, 15
    done = threading.Event()

    def write(writer: int) -> None:
        repository = SqlRepository(own)
        for n in range(each):
            batch = [
                volume(n, run=f"w{writer}-{n}-{part}", tenant=own.org_id)
                for part in range(1 + n % 3)
            ]
            repository.bulk_store(batch)

    def follow() -> list[str]:
        repository, cursor, met = SqlRepository(own), "", list[str]()
        while True:
            ended = done.is_set()
            page = repository.tail(cursor, limit=7)
            met += [record.context.run_id or "" for record in page]
            cursor = page.cursor
            if ended and not page.records:
                return met

    with ThreadPoolExecutor(writers + 1) as pool:
        met = pool.submit(follow)
        try:
            list(pool.map(write, range(writers)))
        finally:
            done.set()
    wanted = {
        f"w{w}-{n}-{p}" for w in range(writers) for n in range(each) for p in range(1 + n % 3)
    }
    assert len(met.result()) == len(wanted)
    assert set(met.result()) == wanted


def test_the_number_of_a_deleted_row_is_not_given_again(
    own: OrganisationState, repository: SqlRepository
) -> None:
    repository.store(volume(1, run="a", tenant=own.org_id))
    cursor = repository.tail().cursor
    with own.write() as tx:
        tx.execute(delete(metadata_records).where(_table.org_id == own.org_id))
    repository.store(volume(2, run="b", tenant=own.org_id))
    assert [record.payload["rows"] for record in repository.tail(cursor)] == [2]
    assert [record.payload["rows"] for record in repository.tail()] == [2]


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, '\"rows\":1', '\"rows\":7')",
        "body = 'nothing'",
        "kind = 'ingestion_runtime'",
        "produced_at = stored_at",
        "version = 2",
    ],
)
def test_a_damaged_row_is_never_returned(database: Database, change: str) -> None:
    database.migrate()
    own = OrganisationState.of(database, "default", actor="tester")
    repository = SqlRepository(own)
    record_id = repository.store(volume(1)).record_id
    trigger = "DROP TRIGGER metadata_records_no_update"
    if database.engine.dialect.name == "postgresql":
        trigger += " ON metadata_records"
    with own.write() as tx:
        tx.connection.exec_driver_sql(trigger)
        tx.connection.exec_driver_sql(f"UPDATE metadata_records SET {change}")
        kind = str(tx.scalar(select(_table.kind)))
    for ask in (
        lambda: repository.latest(FLIGHTS, kind),
        lambda: repository.history(FLIGHTS, kind),
        lambda: repository.query(MetadataQuery()),
        lambda: repository.query(MetadataQuery(where={"payload.rows": {"exists": True}})),
        repository.tail,
    ):
        with pytest.raises(RecordsDamaged, match=record_id):
            ask()


def test_a_rebuild_of_the_state_leaves_records_alone(tmp_path: Path) -> None:
    with numbers_project(tmp_path) as client:
        client.records.store(volume(1))
        cursor = client.records.tail().cursor
    rebuild_embedded(tmp_path, env=None, replace=True, progress=lambda _: None)
    with connect(tmp_path) as client:
        assert client.records.latest(FLIGHTS, "ingestion_volume") == volume(1)
        client.records.store(volume(2, run="b"))
        assert [each.payload["rows"] for each in client.records.tail(cursor)] == [2]
