"""The suite of the relay on a ledger in each kind of object store, and its lock."""

from __future__ import annotations

import threading
import time

import pytest

from lakeguard.relay import owner
from lakeguard.relay.lake_lock import Lease, alone_on_lake
from lakeguard.state.database import Database
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.storage.storage import join, storage_for
from tests.contract.ledger.test_relay import (  # noqa: F401 - the same suite
    test_a_relay_that_dies_is_finished_by_the_next,
    test_a_state_that_forgot_is_refused,
    test_every_ledger_table_exists_after_the_first_sync,
    test_rows_from_before_the_ledger_are_told_at_first,
    test_the_owner_file_tells_how_far_the_ledger_is,
    test_what_is_told_arrives_once,
    test_whoever_cannot_have_its_turn_says_so,
)
from tests.support.lakes.ledgers import heard, relay_of, tell
from tests.support.lakes.s3_server import StorePath


@pytest.fixture
def store(each_store: StorePath) -> StorePath:
    return each_store


@pytest.fixture
def tmp_path(store: StorePath) -> StorePath:
    return store


def test_one_of_many_holds_the_lock_and_gives_it_back(store: StorePath) -> None:
    root, held = str(store), []

    def take() -> None:
        with alone_on_lake(root, 20) as alone:
            assert alone
            held.append("in")
            time.sleep(0.05)
            held.append("out")

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held == ["in", "out"] * 4


def test_a_lease_that_is_not_renewed_is_taken_over(store: StorePath) -> None:
    place = join(str(store), "lock")
    dead, next_one = Lease(place, seconds=1), Lease(place, seconds=1)
    assert dead.acquire()
    assert not next_one.acquire()
    time.sleep(3)
    assert next_one.acquire()
    dead.release()
    assert storage_for(place).exists(place)
    next_one.release()
    assert not storage_for(place).exists(place)


def test_a_state_that_lost_the_lake_does_not_write_its_head(
    database: Database, store: StorePath
) -> None:
    """As after a stall: another process changed ``plane.json`` between its read and its write."""
    relay = relay_of(database, store)
    tell(database, ["a"])
    relay.drain()
    known = owner.read_owner(relay.root)
    assert known is not None
    taken = known.model_copy(update={"state_id": "another"})
    owner.replace(relay.root, known, taken)
    with pytest.raises(StateUnavailable):
        owner.replace(relay.root, known, known.model_copy(update={"batch": 9}))
    assert owner.read_owner(relay.root) == taken
    assert heard(store) == ["a"]
