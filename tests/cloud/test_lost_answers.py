"""Answers of the store that are lost, late or refusals: nothing is lost, nothing happens twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from lakeguard.state.database import Database
from lakeguard_sdk.storage.storage import join, register_store, storage_for
from lakeguard_sdk.storage.store_options import StoreOptions
from tests.contract.promotion.test_governed_tables import Table
from tests.support.fakes.store_proxy import Request, StoreProxy, nth_write, once, store_proxy
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.ledgers import assert_in_step, heard, relay_of, tell
from tests.support.lakes.s3_server import S3Server, StorePath

FAULTS = ("lost", "503", "slow")


@pytest.fixture
def proxy(s3_server: S3Server) -> Iterator[StoreProxy]:
    with store_proxy(s3_server.endpoint) as made:
        yield made


@pytest.fixture
def behind(proxy: StoreProxy, s3_server: S3Server) -> StorePath:
    """A bucket of its own, reached through the proxy."""
    place = s3_server.new_bucket(f"behind-{id(proxy)}") / "lake"
    given = s3_server.options
    options = StoreOptions(proxy.endpoint, given.region, given.access_key, given.secret_key)
    register_store(str(place), options)
    return place


def is_commit(request: Request) -> bool:
    return request.method == "PUT" and "/_delta_log/" in request.path


@pytest.mark.parametrize("fault", FAULTS)
def test_a_creation_is_known_by_what_is_there(
    fault: str, proxy: StoreProxy, behind: StorePath
) -> None:
    storage, place = storage_for(str(behind)), join(str(behind), "plane.json")
    with proxy.with_fault(once(fault, lambda request: request.method == "PUT")):
        assert storage.create(place, b"mine")
    assert not storage.create(place, b"another's")
    seen = storage.mark(place)
    with proxy.with_fault(once(fault, lambda request: request.method == "PUT")):
        assert storage.update(place, b"mine again", seen)
    assert storage.read_bytes(place) == b"mine again"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("move", ["publish", "fence"])
def test_a_move_happens_once(move: str, fault: str, proxy: StoreProxy, behind: StorePath) -> None:
    table = Table(DeltaLake(), str(behind / "bronze" / "numbers"))
    landed = table.lake.publish(table.intent(1, 0, [1, 2]))
    with proxy.with_fault(once(fault, is_commit)):
        if move == "publish":
            landed = table.lake.publish(table.intent(2, landed, [3]))
        else:
            landed = table.lake.tables.fence(table.intent(2, landed, [])).version
    shown = {"publish": [1, 2, 3], "fence": [1, 2]}[move]
    assert landed == 2
    assert table.lake.tables.head_version(table.location) == 2
    assert table.shows() == Counter(shown)
    table.lake.publish(table.intent(3, 2, [4]))
    assert table.shows() == Counter([*shown, 4])


@pytest.mark.parametrize("fault", FAULTS[:2])
def test_the_ledger_hears_everything_once(
    fault: str, proxy: StoreProxy, behind: StorePath, database: Database
) -> None:
    relay = relay_of(database, behind)
    relay.drain()
    names = []
    for number in range(3):
        names.append(f"document-{number}")
        tell(database, [names[-1]])
        with proxy.with_fault(nth_write(fault, number)):
            relay.drain()
    assert heard(behind) == names
    assert_in_step(database, behind)
