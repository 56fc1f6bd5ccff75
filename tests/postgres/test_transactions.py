"""What a transaction on PostgreSQL sees, and what becomes of it when its server goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.database import Database
from lakeguard_sdk.errors import SettingsError, StateReadOnly, StateUnavailable
from tests.support.databases.databases import Server

DOCUMENT = text("INSERT INTO documents (org_id, content_hash, body) VALUES ('o', :hash, '{}')")
COUNT = text("SELECT count(*) FROM documents")


@pytest.fixture
def migrated(schema: Database) -> Database:
    schema.migrate()
    return schema


@pytest.fixture
def own_server() -> Iterator[Server]:
    """One that a test may stop."""
    server = Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def keeper(server: Server) -> Iterator[str]:
    server.sql("CREATE ROLE keeper LOGIN PASSWORD 'hunter2'")
    server.sql("GRANT CREATE ON DATABASE postgres TO keeper")
    yield server.url_of("keeper")
    server.sql("DROP OWNED BY keeper; DROP ROLE keeper")


def test_a_reader_sees_one_snapshot(migrated: Database) -> None:
    with migrated.read() as reading:
        assert reading.scalar(COUNT) == 0
        with migrated.write() as writing:
            writing.execute(DOCUMENT, {"hash": "a"})
        assert reading.scalar(COUNT) == 0
    with migrated.read() as reading:
        assert reading.scalar(COUNT) == 1


def test_a_reader_cannot_write(migrated: Database) -> None:
    with pytest.raises(StateReadOnly, match="read-only"), migrated.read() as connection:
        connection.execute(DOCUMENT, {"hash": "a"})
    with migrated.write() as connection:
        connection.execute(DOCUMENT, {"hash": "a"})


def test_a_writer_sees_what_others_committed(migrated: Database) -> None:
    """Whatever the server's own default is."""
    with migrated.write() as one:
        assert one.scalar(COUNT) == 0
        with migrated.write() as other:
            other.execute(DOCUMENT, {"hash": "a"})
        assert one.scalar(COUNT) == 1
        assert one.scalar(text("SHOW transaction_isolation")) == "read committed"


def test_a_deadlock_may_be_tried_again(migrated: Database) -> None:
    with migrated.write() as connection:
        connection.execute(text("CREATE TABLE pair (n int); INSERT INTO pair VALUES (1), (2)"))
    both, reported = threading.Barrier(2), []

    def lock(first: int, second: int) -> None:
        row = text("SELECT n FROM pair WHERE n = :n FOR UPDATE")
        try:
            with migrated.write() as connection:
                connection.execute(row, {"n": first})
                both.wait(30)
                connection.execute(row, {"n": second})
        except StateUnavailable as error:
            reported.append(error)

    threads = [threading.Thread(target=lock, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert ["deadlock detected" in str(error) for error in reported] == [True]
    assert reported[0].retryable
    assert "\n" not in str(reported[0])


def test_a_restarted_server_is_used_again(own_server: Server) -> None:
    database = Database(own_server.url)
    database.migrate()
    with database.write() as connection:
        connection.execute(DOCUMENT, {"hash": "a"})
    own_server.stop()
    with pytest.raises(StateUnavailable, match="is unavailable"), database.read():
        pass
    own_server.start()
    with database.write() as connection:
        connection.execute(DOCUMENT, {"hash": "b"})
    with database.read() as connection:
        assert connection.scalar(COUNT) == 2
    database.close()


def test_a_server_that_goes_within_a_transaction_takes_it_along(own_server: Server) -> None:
    database = Database(own_server.url)
    database.migrate()
    writing = database.write()
    connection = writing.__enter__()
    connection.execute(DOCUMENT, {"hash": "a"})
    own_server.stop()
    with pytest.raises(StateUnavailable):
        writing.__exit__(None, None, None)
    own_server.start()
    with database.sole("reaper", 0) as held:
        assert held
        own_server.stop()
        own_server.start()
    with database.read() as connection:
        assert connection.scalar(COUNT) == 0
    database.close()


@pytest.mark.parametrize("reference", ["env:KEEPER", "file:keeper.txt"])
def test_a_password_is_given_by_reference(
    reference: str, keeper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = f"[env.prod]\ndatabase = '{keeper}'\nschema = 'kept'\npassword = '{reference}'\n"
    (tmp_path / "lakeguard.toml").write_text(f"[env.dev]\n{written}")
    database = open_state(load_settings(tmp_path, "prod"))
    with pytest.raises(SettingsError, match=r"env\.prod\.password"):
        database.migrate()
    for password, fits in (("hunter3", False), ("hunter2", True)):
        monkeypatch.setenv("KEEPER", password)
        (tmp_path / "keeper.txt").write_text(f"{password}\n")
        if fits:
            database.migrate()
            database.check()
        else:
            with pytest.raises(StateUnavailable, match="authentication failed") as refused:
                database.migrate()
            assert "hunter3" not in repr(refused.value.to_data())
    assert "hunter" not in database.place
    database.close()


def test_a_password_in_an_address_is_never_shown() -> None:
    database = Database("postgresql://keeper:hunter2@127.0.0.1:1/x")
    with pytest.raises(StateUnavailable, match="refused") as refused:
        database.check()
    assert "hunter2" not in repr(refused.value.to_data())
