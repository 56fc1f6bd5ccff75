"""Servers of two kinds of object stores, and a folder of one for each test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.state.database import Database
from tests.support.databases.databases import discard, fresh_database
from tests.support.lakes.azure_server import AzureServer, running_azure
from tests.support.lakes.s3_server import S3Server, StorePath, running_server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with running_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def bucket(s3_server: S3Server) -> StorePath:
    return s3_server.new_bucket("lakes")


@pytest.fixture(scope="session")
def azure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureServer]:
    with running_azure(tmp_path_factory.mktemp("azure")) as server:
        yield server


@pytest.fixture(scope="session")
def container(azure_server: AzureServer) -> StorePath:
    return azure_server.new_container("lakes")


@pytest.fixture
def store(bucket: StorePath) -> StorePath:
    """A folder that no other test uses."""
    return bucket / _new_name()


@pytest.fixture
def served(s3_server: S3Server, store: StorePath) -> Iterator[Path]:
    """A folder that a suite takes for its lake, and that is one in the S3 server."""
    with s3_server.lakes_as_folders(store) as folder:
        yield folder


@pytest.fixture
def each_state() -> None:
    """On SQLite: which database holds the State makes no difference to the store."""


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A new State; the folder of the test may be one of the store."""
    made = fresh_database("sqlite", tmp_path_factory.mktemp("state"))
    yield made
    discard(made)


@pytest.fixture(params=["bucket", "container"])
def each_store(request: pytest.FixtureRequest) -> StorePath:
    """A folder in a store of each kind."""
    root: StorePath = request.getfixturevalue(request.param)
    return root / _new_name()


def _new_name() -> str:
    return f"t-{secrets.token_hex(6)}"
