"""The storage suite over each kind of object store, and over a staging area of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.services.doctor import conditional_write_problem
from lakeguard_sdk.storage.storage import join, staging_area, storage_for
from tests.contract.storage.test_storage import *  # noqa: F403 - the same suite
from tests.support.lakes.s3_server import StorePath


@pytest.fixture
def store(each_store: StorePath) -> StorePath:
    return each_store


@pytest.fixture(params=["store", "staging area"])
def root(request: pytest.FixtureRequest, store: StorePath, tmp_path: Path) -> Iterator[str]:
    place = str(store / "root")
    if request.param == "store":
        yield place
        return
    with staging_area(place, tmp_path / "area"):
        yield place


def test_the_store_lets_one_of_many_conditional_writers_win(store: StorePath) -> None:
    assert conditional_write_problem(str(store)) is None


def test_a_staged_file_is_in_the_store_once_it_is_durable(store: StorePath, tmp_path: Path) -> None:
    storage, place = storage_for(str(store)), join(str(store), "runs", "part.parquet")
    with staging_area(join(str(store), "runs"), tmp_path / "area"):
        storage.replace(place, b"rows")
        assert storage.read_bytes(place) == b"rows"
        storage.make_durable(place)
        storage.replace(join(str(store), "runs", "left"), b"not durable")
    assert storage.read_bytes(place) == b"rows"
    assert not storage.exists(join(str(store), "runs", "left"))


def test_a_staged_file_that_changes_is_uploaded_again(store: StorePath, tmp_path: Path) -> None:
    storage, place = storage_for(str(store)), join(str(store), "runs", "part.parquet")
    with staging_area(join(str(store), "runs"), tmp_path / "area"):
        for content in (b"rows", b"other rows"):
            storage.replace(place, content)
            storage.make_durable(place)
        storage.remove(place, str(store))
        storage.replace(place, b"new rows")
        storage.make_durable(place)
    assert storage.read_bytes(place) == b"new rows"


def test_runs_that_share_a_prefix_keep_their_files_apart(store: StorePath, tmp_path: Path) -> None:
    prefix = join(str(store), "landing", "orders")
    storage, names = storage_for(prefix), ("a", "b")
    places = {name: join(prefix, f"execution_id={name}", "file") for name in names}
    with staging_area(prefix, tmp_path / "b", "b"):
        with staging_area(prefix, tmp_path / "a", "a") as area:
            for name, place in places.items():
                storage.replace(place, name.encode())
            assert [facts.path for facts in area.local_files()] == [places["a"]]
        storage.make_durable(places["b"])
    assert not storage.exists(places["a"])
    assert storage.read_bytes(places["b"]) == b"b"
