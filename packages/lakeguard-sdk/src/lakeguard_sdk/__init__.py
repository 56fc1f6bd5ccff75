"""The language that LakeGuard and OpenLakeTx share, and the client of a control plane."""

from lakeguard_sdk.client import Client, WorkerClient, connect
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.names import Address, DatasetName, parse_address

__all__ = [
    "Address",
    "Client",
    "DatasetName",
    "LakeGuardError",
    "WorkerClient",
    "connect",
    "parse_address",
]
