"""The suite of repositories of records over an S3 server, and lost answers of the store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakeguard.records.files.repository import FilesRepository, open_repository
from lakeguard_sdk.errors import RecordsUnavailable
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.storage.storage import join, register_store
from lakeguard_sdk.storage.store_options import StoreOptions
from lakeguard_sdk.testing.record_samples import read_tail, volume
from lakeguard_sdk.testing.repository_contract import TENANT, RepositoryContract
from tests.support.fakes.store_proxy import Request, StoreProxy, once, store_proxy
from tests.support.lakes.s3_server import S3Server, StorePath


class TestObjectStore(RepositoryContract):
    @pytest.fixture(autouse=True)
    def _place(self, store: StorePath) -> Iterator[None]:
        self.root = join(str(store), "metadata", "default")
        self.opened: list[FilesRepository] = []
        yield
        for each in self.opened:
            each.close()

    def open_repository(self) -> MetadataRepository:
        self.opened.append(open_repository(self.root, TENANT))
        return self.opened[-1]


@pytest.fixture
def proxy(s3_server: S3Server) -> Iterator[StoreProxy]:
    with store_proxy(s3_server.endpoint) as made:
        yield made


@pytest.fixture
def behind(proxy: StoreProxy, s3_server: S3Server) -> str:
    """A bucket of its own, reached through the proxy."""
    place = s3_server.new_bucket(f"records-{id(proxy)}") / "lake"
    given = s3_server.options
    options = StoreOptions(proxy.endpoint, given.region, given.access_key, given.secret_key)
    register_store(str(place), options)
    return str(place)


def is_append(request: Request) -> bool:
    return request.method == "PUT" and "/log/" in request.path


@pytest.mark.parametrize("fault", ["lost", "503", "slow"])
def test_a_record_is_stored_once_whatever_the_store_answers(
    fault: str, proxy: StoreProxy, behind: str
) -> None:
    with open_repository(behind, TENANT) as repository:
        repository.store(volume("run-1"))
        with proxy.with_fault(once(fault, is_append)):
            try:
                repository.store(volume("run-2"))
            except RecordsUnavailable:
                repository.store(volume("run-2"))
        repository.store(volume("run-3"))
    with open_repository(behind, TENANT) as again:
        assert read_tail(again)[0] == [volume("run-1"), volume("run-2"), volume("run-3")]
