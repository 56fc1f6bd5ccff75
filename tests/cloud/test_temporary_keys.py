"""Lakes in S3 by temporary keys: those of a web identity, which the standard chain renews; and a
store that ignores conditions, which must not hold a lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakeguard.services.doctor import conditional_write_problem
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import CredentialsExpired
from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import StoreOptions
from tests.cloud.test_loads import BATCHES, COLUMNS
from tests.support.cases.load_variants import VARIANTS
from tests.support.fakes.store_proxy import Request, StoreProxy, store_proxy
from tests.support.fakes.temporary_keys import TemporaryKeys
from tests.support.lakes.loaded_tables import TABLE, LoadedTable
from tests.support.lakes.s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from tests.support.projects.projects import settings_added

IDENTITY = "who.this.is"
MOST_KEYS = 12


@pytest.fixture
def keys() -> TemporaryKeys:
    return TemporaryKeys(IDENTITY, ACCESS_KEY, SECRET_KEY)


@pytest.fixture
def proxy(s3_server: S3Server, keys: TemporaryKeys) -> Iterator[StoreProxy]:
    with store_proxy(s3_server.endpoint) as made:
        made.keys = keys
        yield made


@pytest.fixture
def folder(
    proxy: StoreProxy, s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Of a project whose lake is in a bucket that takes temporary keys only."""
    identity = tmp_path / "identity"
    identity.write_text(IDENTITY)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(identity))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::000000000000:role/lake")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", proxy.endpoint)
    (s3_server.folder / "temporary").mkdir()
    lake = f'lake = "s3://temporary/{tmp_path.name}"\n'
    storage = f'[env.dev.storage]\nendpoint = "{proxy.endpoint}"\nregion = "us-east-1"\n'
    with settings_added(lake + storage):
        yield tmp_path / "project"


def test_keys_that_end_in_the_middle_of_a_run_are_renewed(
    folder: Path, proxy: StoreProxy, keys: TemporaryKeys
) -> None:
    table = LoadedTable(folder, VARIANTS[LoadType.APPEND]["plain"], COLUMNS)
    table.land(BATCHES[0])
    with ending(proxy, keys, "/runs/"):
        result = table.run()
    assert result.status is RunStatus.SUCCESS, result.error
    table.land(BATCHES[1])
    with ending(proxy, keys, "/_delta_log/"):  # delta-rs repeats no refused commit
        error = table.run().error
    assert error is not None
    assert (error.code, error.retryable) == (CredentialsExpired.code, True)
    result = table.run()
    assert result.status is RunStatus.SUCCESS, result.error
    assert len(keys.issued) < MOST_KEYS, "not for every table that is opened"
    assert len(table.by_duckdb()) == sum(map(len, BATCHES[:2]))
    assert [version.version for version in table.client.reader.versions(TABLE)] == [2, 1]
    assert table.client.ledger.verify(replay=True).findings == ()


def test_a_store_that_ignores_conditions_is_refused(
    proxy: StoreProxy, s3_server: S3Server, keys: TemporaryKeys
) -> None:
    (s3_server.folder / "ignoring").mkdir()
    register_store("s3://ignoring", StoreOptions(proxy.endpoint, given=keys.new()))
    assert conditional_write_problem("s3://ignoring/lake") is None
    proxy.leaves_out_conditions = True
    problem = conditional_write_problem("s3://ignoring/lake")
    assert problem is not None
    assert "8 of 8 writers created the same object (If-None-Match)" in problem


@contextmanager
def ending(proxy: StoreProxy, keys: TemporaryKeys, middle: str) -> Iterator[None]:
    """All keys end at the first write to a folder of the table; others are issued in their
    place."""
    ended: list[str] = []

    def end(request: Request) -> str:
        here = f"/{TABLE.name}/" in request.path and middle in request.path
        if here and request.method == "PUT" and not ended:
            ended.extend(keys.issued)
            keys.end()
        return ""

    proxy.fault = end
    yield
    assert ended, "the keys ended"
    assert keys.issued[-1] not in ended
