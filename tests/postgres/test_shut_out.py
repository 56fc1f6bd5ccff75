"""A server that is there and lets nobody in as it is asked: that does not pass by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.state.database import Database
from lakeguard_sdk.errors import StateLoginRefused, StateUnavailable
from tests.support.databases.databases import Server
from tests.support.projects.shell import Shell


@pytest.fixture
def clerk(server: Server) -> Iterator[str]:
    """The address of a user who has a password."""
    server.sql("CREATE ROLE clerk LOGIN PASSWORD 'hunter2'")
    yield server.url_of("clerk")
    server.sql("DROP OWNED BY clerk; DROP ROLE clerk")


@pytest.fixture
def project(shell: Shell, tmp_path: Path, clerk: str) -> Path:
    """Its environment dev is on the server, with a password that is not the clerk's."""
    folder = tmp_path / "project"
    shell("init", folder, "--example")
    written = f"database = '{clerk}'\npassword = 'file:clerk.txt'\n"
    (folder / "lakeguard.toml").write_text(f"[env.dev]\n{written}")
    (folder / "clerk.txt").write_text("hunter3\n")
    return folder


@pytest.mark.parametrize(
    ("user", "name", "expected"),
    [
        ("clerk:hunter3", "postgres", "password authentication failed"),
        ("clerk", "postgres", "no password supplied"),
        ("clerk:hunter2", "nowhere", 'database "nowhere" does not exist'),
    ],
)
def test_who_is_not_let_in_is_told_the_settings(
    user: str, name: str, expected: str, clerk: str
) -> None:
    address = clerk.replace("clerk@", f"{user}@").replace("/postgres", f"/{name}")
    with pytest.raises(StateLoginRefused, match=expected) as shut:
        Database(address).check()
    data = shut.value.to_data()
    assert (data["code"], data["retryable"]) == ("LG-6006", False)
    assert "database and password" in data["message"]
    assert data["next"] == "lakeguard doctor"
    assert "hunter" not in repr(data)


@pytest.mark.parametrize("may", ["", "CREATE ROLE idle"])
def test_a_role_that_may_not_or_is_not_there(may: str, server: Server) -> None:
    if may:
        server.sql(may)
    try:
        with pytest.raises(StateLoginRefused, match='role "idle"'):
            Database(server.url.replace("lakeguard@", "idle@")).check()
    finally:
        server.sql("DROP ROLE IF EXISTS idle")


def test_a_server_that_is_not_there_may_come_back() -> None:
    with pytest.raises(StateUnavailable) as away:
        Database("postgresql://clerk@127.0.0.1:1/x").check()
    assert type(away.value) is StateUnavailable
    assert away.value.retryable


def test_a_server_that_has_no_room_may_have_some_later(server: Server, clerk: str) -> None:
    server.sql("ALTER ROLE clerk CONNECTION LIMIT 1")
    address = clerk.replace("clerk@", "clerk:hunter2@")
    first, second = Database(address), Database(address)
    with first.read() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
        with pytest.raises(StateUnavailable, match="too many connections") as full:
            second.check()
    assert full.value.retryable
    first.close()


@pytest.mark.parametrize("command", [("status",), ("worker",), ("dispatcher",), ("jobs", "list")])
def test_commands_end_with_it_at_once(
    command: tuple[str, ...], shell: Shell, project: Path
) -> None:
    result = shell(*command, "--project", project, "--json")
    assert (result.data["error"]["code"], result.data["error"]["retryable"]) == ("LG-6006", False)
    assert result.data["error"]["next"] == "lakeguard doctor"
    assert result.code != 0


def test_the_doctor_does_not_send_to_the_doctor(shell: Shell, project: Path) -> None:
    result = shell("doctor", "--project", project, "--json")
    found = next(each for each in result.data["findings"] if each["name"] == "Database")
    assert "password authentication failed" in found["detail"]
    assert found["fix"] == "correct env.dev in lakeguard.toml, or what its password names"
