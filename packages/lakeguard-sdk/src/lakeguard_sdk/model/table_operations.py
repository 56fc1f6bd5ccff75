"""Adoption: a Delta table of anybody's making becomes a governed dataset."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.model.delta_log import CommittedFile
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import RunPlan, RunTicket, TableBase
from lakeguard_sdk.types.schema import TableSchema


class AdoptableTable(Noun):
    """A Delta table at one commit, of which nothing keeps us from governing it."""

    location: str
    table_id: str
    commit: int
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    files: tuple[CommittedFile, ...]
    """What it shows, by path, each as its log tells of it."""
    rows: int
    seq: int | None = None
    """The last number that a move took on it; None where none ever did."""


class AdoptionPlan(Noun):
    """All that a data plane needs to measure a table as it is."""

    run: RunPlan
    commit: int
    files: tuple[CommittedFile, ...]

    @property
    def ticket(self) -> RunTicket:
        return self.run.ticket


# Compaction: many small files of a table become few, and no row changes.


class CompactionPlan(Noun):
    """All that a data plane needs to merge files of one table, fixed when it was opened."""

    ticket: RunTicket
    dataset: DatasetName
    dataset_id: str
    lease_seconds: float
    location: str
    base: TableBase
    groups: tuple[tuple[str, ...], ...]
    """Each becomes one file: paths of live files of one partition, relative to ``location``."""
    staging: str
    """Relative to ``location``: one folder per attempt."""
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    unstated: tuple[str, ...] = ()
    """Columns whose least and greatest values no statistics may tell."""


class Compacted(Noun):
    """What was merged into what, with the evidence that no row changed."""

    base_commit: int
    adds: tuple[StagedFile, ...]
    removes: tuple[str, ...]
    rows: int
    before: str
    """An order-free digest of all rows of the files removed, read back from them."""
    after: str
    """The same of the files added."""


# Maintenance of a table: which files go, and why nobody needs them.


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
