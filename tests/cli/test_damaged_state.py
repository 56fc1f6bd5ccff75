"""What is wrong with a database is told apart, with the way out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lakeguard.cli import session
from lakeguard.cli.options import Call
from lakeguard.state.failures import meaning_of
from lakeguard_sdk import Client
from lakeguard_sdk.errors import (
    StateDamaged,
    StateError,
    StateFull,
    StateLocked,
    StateLoginRefused,
    StateReadOnly,
    StateUnavailable,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with numbers_project(tmp_path) as client:
        run_by_hand(client, [1])
    return tmp_path / ".lakeguard" / "state.db"


def garbage(data: bytes) -> bytes:
    return b"no database" * 1000


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    """Headers of pages that a short command need not read."""
    harmed = bytearray(data)
    for page in range(40, len(data) // 4096, 10):
        harmed[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    return bytes(harmed)


@pytest.mark.parametrize("harm", [garbage, truncated, flipped])
def test_status_of_a_damaged_file_is_an_error_and_rebuild_takes_its_place(
    shell: Shell, tmp_path: Path, state: Path, harm: object
) -> None:
    assert callable(harm)
    damaged = harm(state.read_bytes())
    state.write_bytes(damaged)
    refused = shell("status", "--project", tmp_path)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("LG-6010  ")
    assert refused.err.endswith("Next: lakeguard rebuild\n")
    rebuilt = shell("rebuild", "--project", tmp_path)
    assert rebuilt.code == 0, rebuilt.err
    (kept,) = state.parent.glob("state.db.damaged-*")
    assert kept.read_bytes() == damaged
    assert str(kept) in rebuilt.err
    assert "✓ OK" in shell("status", "--project", tmp_path).out


def test_a_whole_file_is_not_set_apart(shell: Shell, tmp_path: Path, state: Path) -> None:
    refused = shell("rebuild", "--project", tmp_path)
    assert refused.err.startswith("LG-6106")
    assert list(state.parent.glob("state.db.damaged-*")) == []


def failure(path: Path, *statements: str) -> sqlite3.Error:
    """How the last statement fails."""
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
    except sqlite3.Error as error:
        return error
    raise AssertionError("nothing failed")


def test_failures_of_sqlite_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (x)")
    full = failure(path, "PRAGMA max_page_count = 2", "INSERT INTO t VALUES (zeroblob(1000000))")
    readonly = failure(path, "PRAGMA query_only = 1", "INSERT INTO t VALUES (1)")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    locked = failure(path, "INSERT INTO t VALUES (1)")
    holder.close()
    cannot = failure(tmp_path / "missing" / "b.db", "SELECT 1")
    path.write_bytes(b"x" * 5000)
    damaged = failure(path, "SELECT * FROM t")
    expected: list[tuple[sqlite3.Error, type[StateError]]] = [
        (full, StateFull),
        (readonly, StateReadOnly),
        (locked, StateLocked),
        (cannot, StateReadOnly),
        (damaged, StateDamaged),
    ]
    assert [meaning_of(error) for error, _ in expected] == [kind for _, kind in expected]
    assert [kind.retryable for _, kind in expected] == [True, False, True, False, False]


def test_a_service_waits_for_a_state_that_is_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    client, pauses, tries = numbers_project(tmp_path), list[float](), iter(range(10))

    def connect(_: Call) -> Client:
        if next(tries) < 3:
            raise StateUnavailable(place="somewhere", reason="no route")
        return client

    monkeypatch.setattr(session, "client_of", connect)
    assert session.client_when_available(Call(), pauses.append) is client
    assert pauses == [1.0, 2.0, 4.0]
    said = capsys.readouterr().err
    assert said.count("unavailable, retrying") == 1
    assert "available again" in said


def test_a_refused_login_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(_: Call) -> Client:
        raise StateLoginRefused(place="somewhere", reason="password")

    monkeypatch.setattr(session, "client_of", connect)
    with pytest.raises(StateLoginRefused):
        session.client_when_available(Call(), lambda _: None)


def test_a_dataset_without_its_layer_is_suggested(
    shell: Shell, tmp_path: Path, state: Path
) -> None:
    for command in (("why", "numbers"), ("show", "Numbers"), ("rollback", "numbers", "--to", "1",
                    "--reason", "x")):  # fmt: skip
        refused = shell(*command, "--project", tmp_path)
        assert refused.code == 2
        assert f"did you mean {NUMBERS}?" in refused.err
