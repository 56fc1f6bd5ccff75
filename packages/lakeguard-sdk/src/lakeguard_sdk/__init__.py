"""Shared models of LakeGuard and OpenLakeTx, and the client of a control plane.

Names are imported lazily: pytest loads this package in every run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeguard_sdk.client import Client, WorkerClient, connect
    from lakeguard_sdk.core.dataset_name import Address, DatasetName, parse_address
    from lakeguard_sdk.errors import LakeGuardError
    from lakeguard_sdk.records.query import MetadataQuery
    from lakeguard_sdk.records.record import (
        MetadataContext,
        MetadataEnvironment,
        MetadataRecord,
        MetadataTarget,
    )

__all__ = [
    "Address",
    "Client",
    "DatasetName",
    "LakeGuardError",
    "MetadataContext",
    "MetadataEnvironment",
    "MetadataQuery",
    "MetadataRecord",
    "MetadataTarget",
    "WorkerClient",
    "connect",
    "parse_address",
]

_HOMES = {
    **dict.fromkeys(("Client", "WorkerClient", "connect"), "client"),
    **dict.fromkeys(("Address", "DatasetName", "parse_address"), "core.dataset_name"),
    "LakeGuardError": "errors",
    "MetadataQuery": "records.query",
    **dict.fromkeys(
        ("MetadataContext", "MetadataEnvironment", "MetadataRecord", "MetadataTarget"),
        "records.record",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
