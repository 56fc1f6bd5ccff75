"""Locks on names mean the same on every kind of State."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from lakeguard.state.database import Database
from lakeguard.state.locks import hold
from lakeguard.state.organisation import OrganisationState

HOLD = """
import sys, time
from lakeguard.state.database import Database
with Database(sys.argv[1], sys.argv[2]).sole("reaper", 0) as held:
    print(held, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def migrated(database: Database) -> Database:
    database.migrate()
    return database


def test_one_at_a_time(migrated: Database) -> None:
    with (
        migrated.sole("reaper", 0) as first,
        migrated.sole("reaper", 0.2) as second,
        migrated.sole("relay", 0) as other,
    ):
        assert (first, second, other) == (True, False, True)
    with migrated.sole("reaper", 0) as again:
        assert again


def test_who_failed_to_get_it_takes_nothing_away(migrated: Database) -> None:
    with migrated.sole("reaper", 0):
        for _ in range(2):
            with migrated.sole("reaper", 0) as held:
                assert not held


def test_an_error_frees_it(migrated: Database) -> None:
    with pytest.raises(ZeroDivisionError), migrated.sole("reaper", 0):
        _ = 1 / 0
    with migrated.sole("reaper", 0) as held:
        assert held


def test_whoever_waits_gets_it_in_time(migrated: Database) -> None:
    taken, got = threading.Event(), []

    def wait() -> None:
        taken.wait(30)
        with migrated.sole("reaper", 30) as held:
            got.append(held)

    waiting = threading.Thread(target=wait)
    waiting.start()
    with migrated.sole("reaper", 0):
        taken.set()
        time.sleep(0.2)
        assert got == []
    waiting.join(30)
    assert got == [True]


def test_the_death_of_its_holder_frees_it(migrated: Database) -> None:
    command = [sys.executable, "-c", HOLD, str(migrated.url), migrated.schema]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        with migrated.sole("reaper", 0) as held:
            assert not held
        holder.kill()
        holder.wait(30)
        with migrated.sole("reaper", 30) as held:
            assert held


def test_a_held_name_makes_the_second_transaction_wait(migrated: Database) -> None:
    order: list[str] = []
    taken = threading.Event()

    def second() -> None:
        taken.wait(30)
        with OrganisationState.of(migrated, "default").write() as tx:
            hold(tx, "intents")
            order.append("second")

    waiting = threading.Thread(target=second)
    waiting.start()
    with OrganisationState.of(migrated, "default").write() as tx:
        hold(tx, "intents")
        hold(tx, "intents")
        taken.set()
        time.sleep(0.3)
        order.append("first")
    waiting.join(30)
    assert order == ["first", "second"]


def test_other_names_do_not_wait(schema: Database) -> None:
    schema.migrate()
    with (
        OrganisationState.of(schema, "default").write() as tx,
        OrganisationState.of(schema, "default").write() as other_tx,
    ):
        hold(tx, "intents")
        hold(other_tx, "relay")
