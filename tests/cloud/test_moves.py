"""The suite of everything that commits to a governed table, in each kind of object store."""

from __future__ import annotations

import pytest

from tests.contract.promotion.test_governed_tables import *  # noqa: F403 - the same suite
from tests.support.lakes.lakes import DeltaLake, Lake
from tests.support.lakes.s3_server import StorePath


@pytest.fixture
def lake() -> Lake:
    return DeltaLake()


@pytest.fixture
def store(each_store: StorePath) -> StorePath:
    return each_store


@pytest.fixture
def tmp_path(store: StorePath) -> StorePath:
    return store
