"""Credentials of each kind of object store: from the chain of the cloud, and never shown."""

from __future__ import annotations

import pytest

from lakeguard_sdk.errors import StoreAccessRefused
from lakeguard_sdk.storage.storage import (
    join,
    register_store,
    storage_for,
    storage_options,
)
from lakeguard_sdk.storage.store_options import StoreOptions
from tests.support.lakes.azure_server import KEY, AzureServer
from tests.support.lakes.s3_server import ACCESS_KEY, SECRET_KEY, Given, S3Server

WRONG = "bm90IHRoZSBrZXkgb2YgYW55Ym9keQ=="


def test_keys_of_s3_come_from_the_environment(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    place = join(str(s3_server.new_bucket("chain")), "file")
    register_store(place, StoreOptions(s3_server.endpoint))
    assert storage_for(place).create(place, b"content")


def test_the_key_of_azure_comes_from_the_environment(
    azure_server: AzureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", KEY)
    place = join(str(azure_server.new_container("chain")), "file")
    register_store(place, StoreOptions(azure_server.endpoint))
    assert storage_for(place).create(place, b"content")
    assert KEY not in str(storage_options(place))


def test_a_wrong_key_of_s3_is_refused_and_not_shown(s3_server: S3Server) -> None:
    place = join(str(s3_server.new_bucket("refused")), "file")
    keys = Given(ACCESS_KEY), Given(WRONG)
    register_store(place, StoreOptions(s3_server.endpoint, "", *keys))
    _assert_refused(place, WRONG)


@pytest.mark.parametrize("key", [WRONG, "no base64: my-very-secret"])
def test_a_wrong_key_of_azure_is_refused_and_not_shown(key: str, azure_server: AzureServer) -> None:
    container = f"refused-{len(key)}"
    place = join(str(azure_server.new_container(container)), "file")
    register_store(place, StoreOptions(azure_server.endpoint, secret_key=Given(key)))
    _assert_refused(place, key)


def _assert_refused(place: str, key: str) -> None:
    storage = storage_for(place)
    for write in (storage.create, storage.replace):
        with pytest.raises((OSError, StoreAccessRefused), match=r"file") as refused:
            write(place, b"content")
        assert key not in str(refused.value)
        assert refused.value.__cause__ is None
