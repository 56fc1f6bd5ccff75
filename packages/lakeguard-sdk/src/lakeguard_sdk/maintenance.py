"""Maintenance of a table: which files go, and why nobody needs them."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun


class RemovalKind(StrEnum):
    STAGING = "staging"
    """Files of runs that ended without publishing them."""
    VERSIONS = "versions"
    """Files that only versions beyond retention have shown."""
    QUARANTINE = "quarantine"
    """Rows that runs kept aside."""


class Removal(Noun):
    """Files that go, by their paths under the table's root; rows kept aside, under the lake's."""

    kind: RemovalKind
    paths: tuple[str, ...]
    bytes: int
    runs: tuple[str, ...] = ()
    """Whose staging, or whose rows, it was."""
    versions: tuple[int, ...] = ()
    """That cannot be shown again without them."""


class Maintained(Noun):
    """What is to be done on a dataset's table, or was done."""

    dataset: DatasetName
    small_files: int
    """That could be merged."""
    removals: tuple[Removal, ...]
    done: bool
