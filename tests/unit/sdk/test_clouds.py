"""Keys and locations of each kind of object store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lakeguard_sdk.storage.clouds import CLOUDS, cloud_of
from lakeguard_sdk.storage.store_options import StoreOptions

FORM = r"abfss://CONTAINER@ACCOUNT\.dfs\.core\.windows\.net"


class Key:
    def __init__(self, value: str) -> None:
        self.value = value

    def resolve(self) -> str:
        return self.value


@pytest.mark.parametrize("scheme", CLOUDS)
def test_keys_are_asked_for_again(scheme: str) -> None:
    """``obstore`` would keep temporary ones for ever."""
    key = Key("first")
    provide = CLOUDS[scheme].credentials(StoreOptions(access_key=Key("id"), secret_key=key))
    assert provide is not None
    assert "first" in provide().values()
    key.value = "second"
    found = provide()
    assert "second" in found.values()
    assert timedelta(minutes=5) < found["expires_at"] - datetime.now(UTC) < timedelta(minutes=15)


def test_without_a_key_azure_follows_its_own_chain() -> None:
    azure, place = cloud_of("abfss"), "raw@lake.dfs.core.windows.net"
    assert azure.credentials(StoreOptions()) is None
    limits = StoreOptions(timeout_seconds=5, retry_seconds=9)
    assert azure.delta_options(place, limits) == {"timeout": "5s", "retry_timeout": "9s"}
    assert azure.config(place, StoreOptions()) == {"container_name": "raw", "account_name": "lake"}


@pytest.mark.parametrize("place", ["raw", "raw@lake", "raw:secret@lake.dfs.core.windows.net"])
def test_an_azure_location_has_one_form(place: str) -> None:
    for read in (cloud_of("abfss").config, cloud_of("abfss").delta_options):
        with pytest.raises(ValueError, match=FORM) as refused:
            read(place, StoreOptions())
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["gs", "az", "wasbs", "hdfs"])
def test_other_schemes_are_refused(scheme: str) -> None:
    with pytest.raises(ValueError, match=f"{scheme}:// is not supported"):
        cloud_of(scheme)
