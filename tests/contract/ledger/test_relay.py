"""The relay, on each kind of State: nothing lost, nothing twice, one owner per lake."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sqlalchemy import text

from bench import relayed as benchmark
from lakeguard.relay.attach import attach
from lakeguard.relay.delivery_loop import DeliveryLoop
from lakeguard.relay.lake_lock import alone_on_lake
from lakeguard.relay.ledger_table import LedgerFiles
from lakeguard.relay.owner import OWNER_FILE, ledger_root, read_owner
from lakeguard.relay.rows import arrow_schema
from lakeguard.relay.tables import fact_tables, ledger_tables
from lakeguard.state import outbox
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import documents
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import (
    LakeOwned,
    LedgerMissing,
    LedgerOlder,
    StateForked,
    StateOlder,
    StateUnavailable,
)
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.fault_points import POINTS
from tests.support.databases.databases import discard, fresh_database
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.ledgers import (
    ORG,
    assert_in_step,
    document_rows,
    heard,
    ledger_of,
    now,
    relay_of,
    tell,
)

RELAY_POINTS = tuple(point for point in POINTS if point.startswith(("relay.", "ledger.", "file.")))


def test_what_is_told_arrives_once(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["a", "b"])
    tell(database, ["c"])
    synced = relay.drain()
    assert synced.rows == 4  # the organisation itself among them
    assert heard(tmp_path) == ["a", "b", "c"]
    assert relay.drain().rows == 0
    assert_in_step(database, tmp_path)


def test_what_is_rolled_back_is_not_told(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    with database.engine.connect() as connection:
        tx = Transaction(connection, ORG, now, "")
        outbox.record(tx, documents, document_rows(["a"]), now())
        connection.rollback()
    relay.drain()
    assert heard(tmp_path) == []


@pytest.mark.parametrize("point", RELAY_POINTS)
def test_a_relay_that_dies_is_finished_by_the_next(
    point: str, database: Database, tmp_path: Path
) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    relay.drain()
    tell(database, ["b", "c"])
    with dying_at(point):
        relay.drain()
    tell(database, ["d"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["a", "b", "c", "d"]
    assert_in_step(database, tmp_path)


def test_every_ledger_table_exists_after_the_first_sync(database: Database, tmp_path: Path) -> None:
    relay_of(database, tmp_path).drain()
    ledger = ledger_of(tmp_path)
    assert all(ledger.files(table).exists() for table in ledger_tables().values())


def test_a_transaction_that_commits_late_comes_with_a_later_batch(
    schema: Database, tmp_path: Path
) -> None:
    relay = relay_of(schema, tmp_path)
    with OrganisationState.of(schema, ORG).write() as tx:
        outbox.record(tx, documents, document_rows(["first id"]), now())
        tell(schema, ["second id"])
        relay.drain()
        assert heard(tmp_path) == ["second id"]
    relay.drain()
    assert heard(tmp_path) == ["first id", "second id"]
    assert_in_step(schema, tmp_path)


def test_eight_writers_and_a_relay_at_once(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    names = [[f"{writer}-{number}" for number in range(12)] for writer in range(8)]

    def write(mine: list[str]) -> None:
        for name in mine:
            tell(database, [name, f"{name}+"])

    writers = [threading.Thread(target=write, args=(mine,)) for mine in names]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        relay.drain()
    relay.drain()
    described = [name for mine in names for each in mine for name in (each, f"{each}+")]
    assert heard(tmp_path) == sorted(described)
    assert_in_step(database, tmp_path)


def test_many_small_batches_stay_few_files(tmp_path: Path) -> None:
    database = fresh_database("sqlite", tmp_path)
    relay = relay_of(database, tmp_path)
    for number in range(65):
        tell(database, [f"{number:03}"])
        relay.drain()
    assert heard(tmp_path) == [f"{number:03}" for number in range(65)]
    files = ledger_of(tmp_path).files(fact_tables()["documents"])
    assert files.live_files() < 40
    discard(database)


# --------------------------------------------------------------------------------- one owner


def test_rows_from_before_the_ledger_are_told_at_first(database: Database, tmp_path: Path) -> None:
    database.migrate()
    tell(database, ["old"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["old"]
    assert_in_step(database, tmp_path)


def test_another_state_is_refused(database: Database, tmp_path: Path) -> None:
    relay_of(database, tmp_path).drain()
    other = fresh_database("sqlite", tmp_path)
    other.migrate()
    with pytest.raises(LakeOwned):
        attach(OrganisationState.of(other, ORG, now), str(tmp_path))
    discard(other)


def test_a_state_that_forgot_is_refused(database: Database, tmp_path: Path) -> None:
    """As a backup would be: it has its name, and less than the ledger tells."""
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    relay.drain()
    with database.write() as connection:
        for statement in _without_guard(database, "audit_chain"):
            connection.exec_driver_sql(statement)
        connection.execute(text("DELETE FROM audit_chain"))
    with pytest.raises(StateOlder):
        attach(OrganisationState.of(database, ORG, now), str(tmp_path))


def test_a_state_with_another_story_is_refused(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    relay.drain()
    with database.write() as connection:
        for statement in _without_guard(database, "audit_chain"):
            connection.exec_driver_sql(statement)
        connection.execute(text("UPDATE audit_chain SET head = 'sha256:0'"))
    with pytest.raises(StateForked):
        attach(OrganisationState.of(database, ORG, now), str(tmp_path))


def test_a_ledger_that_vanished_is_told_and_not_begun_again(
    database: Database, tmp_path: Path
) -> None:
    relay_of(database, tmp_path).drain()
    (Path(ledger_root(str(tmp_path), ORG)) / OWNER_FILE).unlink()
    with pytest.raises(LedgerMissing):
        attach(OrganisationState.of(database, ORG, now), str(tmp_path))


def test_a_ledger_from_a_backup_is_not_written_on(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    relay.drain()
    root, copy = Path(relay.root), tmp_path / "copy"
    shutil.copytree(root, copy)
    tell(database, ["b"])
    relay.drain()
    shutil.rmtree(root)
    copy.rename(root)
    with pytest.raises(LedgerOlder):
        attach(OrganisationState.of(database, ORG, now), str(tmp_path))
    tell(database, ["c"])
    with pytest.raises(LedgerOlder):
        relay.drain()
    assert heard(tmp_path) == ["a"]


def test_the_owner_file_tells_how_far_the_ledger_is(database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    synced = relay.drain()
    owner = read_owner(relay.root)
    assert owner is not None
    assert (owner.batch, owner.head) == (1, synced.head)


def test_of_two_states_that_meet_a_new_lake_one_gets_it(tmp_path: Path) -> None:
    states = [fresh_database("sqlite", tmp_path) for _ in range(4)]
    for state in states:
        state.migrate()
    outcomes: list[bool] = []

    def meet(state: Database) -> None:
        try:
            attach(OrganisationState.of(state, ORG, now), str(tmp_path))
        except LakeOwned:
            outcomes.append(False)
        else:
            outcomes.append(True)

    threads = [threading.Thread(target=meet, args=(state,)) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False, False, False, True]
    for state in states:
        discard(state)


def test_two_processes_that_introduce_one_state(schema: Database, tmp_path: Path) -> None:
    """Each has its own connections; one of them names the State, and nothing is told twice."""
    schema.migrate()
    tell(schema, ["old"])
    others = [Database(schema.url, schema.schema) for _ in range(4)]
    with ThreadPoolExecutor(len(others)) as pool:
        owners = list(
            pool.map(
                lambda state: attach(OrganisationState.of(state, ORG, now), str(tmp_path)), others
            )
        )
    assert len({owner.state_id for owner in owners}) == 1
    relay_of(schema, tmp_path).drain()
    assert heard(tmp_path) == ["old"]
    for state in others:
        state.close()


def test_whoever_cannot_have_its_turn_says_so(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeguard.relay.relay._PATIENCE_SECONDS", 0.1)
    relay = relay_of(database, tmp_path)
    tell(database, ["a"])
    with alone_on_lake(relay.root, 0), pytest.raises(StateUnavailable, match="writing"):
        relay.drain()
    relay.drain()
    assert heard(tmp_path) == ["a"]


def test_the_end_of_a_process_waits_for_a_delivery_under_way(
    database: Database, tmp_path: Path
) -> None:
    relay = relay_of(database, tmp_path)
    loop = DeliveryLoop(database, [relay], seconds=0.01)
    tell(database, ["a"])
    slow, ended = threading.Event(), threading.Event()
    stop = fault_points.listen(lambda point: slow.wait(5) if point == "relay.stamped" else None)
    loop.start()
    end = threading.Thread(target=lambda: (loop.close(), ended.set()))
    end.start()
    assert not ended.wait(0.3)
    slow.set()
    end.join()
    stop()
    assert heard(tmp_path) == ["a"]
    assert relay.is_idle()


def _without_guard(database: Database, table: str) -> list[str]:
    """What the owner of a database can do, and nobody else."""
    on = f" ON {table}" if database.engine.dialect.name == "postgresql" else ""
    return [f"DROP TRIGGER {table}_{name}{on}" for name in ("no_update", "no_delete")]


def test_a_column_that_came_later_is_shown_by_tables_that_were_there(
    database: Database, tmp_path: Path
) -> None:
    relay = relay_of(database, tmp_path)
    narrow = arrow_schema(fact_tables()["documents"])
    narrow = narrow.remove(narrow.get_field_index("body"))
    files = ledger_of(tmp_path).files(fact_tables()["documents"])
    LedgerFiles(files.location, narrow).ensure()
    tell(database, ["a"])
    relay.drain()
    tell(database, ["b"])
    relay.drain()
    assert heard(tmp_path) == ["a", "b"]
    assert "body" in [field.name for field in DeltaTable(files.location).schema().fields]
    assert_in_step(database, tmp_path)


def test_the_benchmark_of_the_relay_delivers_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "SCRATCH", tmp_path)
    wall, cpu = benchmark.relayed(60, rounds=1)
    assert (wall.unit, cpu.unit) == ("us", "us")
    assert wall.value > 0
