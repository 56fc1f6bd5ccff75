"""What differs between kinds of object stores: the class of the store, its configuration and its
credentials, in the words of ``obstore`` and ``deltalake``. One row for each scheme.

A scheme is listed only if the contract suites of storage, moves and ledger run against a server of
its kind. Credentials are resolved on use and are in no message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from lakeguard_sdk.storage.store_options import DEFAULT_REGION, StoreOptions

Provider = Callable[[], Mapping[str, Any]]

_ASK_AGAIN = timedelta(minutes=10)
"""``obstore`` keeps credentials until five minutes before their end, and for ever without one."""
_AZURE = re.compile(r"([a-z0-9-]{3,63})@([a-z0-9]{3,24})\.dfs\.core\.windows\.net")


@dataclass(frozen=True)
class Cloud:
    """One kind of object store. Functions take what is between ``://`` and the first ``/``."""

    store_class: str
    """In ``obstore.store``."""
    config: Callable[[str, StoreOptions], dict[str, Any]]
    credentials: Callable[[StoreOptions], Provider | None]
    """None lets the library follow the standard chain of the cloud."""
    delta_options: Callable[[str, StoreOptions], dict[str, str]]
    """``storage_options`` of ``deltalake``."""
    reads_suffixes: bool = True
    """Whether the end of an object can be read without knowing its size."""
    holds_lakes: bool = False
    """Whether Spark reads it too, so that a whole lake can be there."""


def cloud_of(scheme: str) -> Cloud:
    """Raises ValueError for a scheme without a row."""
    try:
        return CLOUDS[scheme]
    except KeyError:
        raise ValueError(
            f"{scheme}:// is not supported; use a folder or s3://BUCKET/FOLDER"
        ) from None


def _s3_config(bucket: str, options: StoreOptions) -> dict[str, Any]:
    found = {"bucket": bucket, "region": options.region or DEFAULT_REGION}
    return found | ({"endpoint": options.endpoint} if options.endpoint else {})


def _s3_credentials(options: StoreOptions) -> Provider:
    def provide() -> Mapping[str, Any]:
        found = options.credentials(anew=True)
        return {
            "access_key_id": found.access_key,
            "secret_access_key": found.secret_key,
            "token": found.token,
            "expires_at": datetime.now(UTC) + _ASK_AGAIN,
        }

    return provide


def _s3_delta_options(bucket: str, options: StoreOptions) -> dict[str, str]:
    found = options.credentials()
    made = {
        "aws_access_key_id": found.access_key,
        "aws_secret_access_key": found.secret_key,
        "aws_region": options.region or DEFAULT_REGION,
        "aws_conditional_put": "etag",
        **_limits(options),
    }
    if found.token:
        made["aws_session_token"] = found.token
    if options.endpoint:
        made["aws_endpoint_url"] = options.endpoint
        made["aws_allow_http"] = str(options.allow_http).lower()
    return made


def _limits(options: StoreOptions) -> dict[str, str]:
    return {
        "timeout": f"{options.timeout_seconds}s",
        "retry_timeout": f"{options.retry_seconds}s",
    }


def _azure_names(place: str) -> tuple[str, str]:
    """Container and account. The message never shows the place, which may contain a secret."""
    found = _AZURE.fullmatch(place)
    if found is None:
        form = "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
        raise ValueError(f"write {form}, as Spark and delta-rs take it")
    return found[1], found[2]


def _azure_config(place: str, options: StoreOptions) -> dict[str, Any]:
    container, account = _azure_names(place)
    found = {"container_name": container, "account_name": account}
    return found | ({"endpoint": options.endpoint} if options.endpoint else {})


def _azure_credentials(options: StoreOptions) -> Provider | None:
    key = options.secret_key
    if key is None:
        return None
    return lambda: {"access_key": key.resolve(), "expires_at": datetime.now(UTC) + _ASK_AGAIN}


def _azure_delta_options(place: str, options: StoreOptions) -> dict[str, str]:
    _azure_names(place)
    made = _limits(options)
    if options.secret_key is not None:
        made["azure_storage_account_key"] = options.secret_key.resolve()
    if options.endpoint:
        made["azure_endpoint"] = options.endpoint
        made["azure_allow_http"] = str(options.allow_http).lower()
    return made


CLOUDS: Mapping[str, Cloud] = {
    "s3": Cloud("S3Store", _s3_config, _s3_credentials, _s3_delta_options, holds_lakes=True),
    "abfss": Cloud(
        "AzureStore",
        _azure_config,
        _azure_credentials,
        _azure_delta_options,
        reads_suffixes=False,
    ),
}
