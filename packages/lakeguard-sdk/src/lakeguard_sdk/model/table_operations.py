"""Table operations: adoption, compaction and maintenance."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.delta_log import CommittedFile
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import RunPlan, RunTicket, TableBase
from lakeguard_sdk.types.schema import TableSchema


class AdoptableTable(FrozenModel):
    """An existing Delta table at one commit that can become a governed dataset."""

    location: str
    table_id: str
    commit: int
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    files: tuple[CommittedFile, ...]
    """Its live files by path, as in its log."""
    rows: int
    seq: int | None = None
    """The last ``seq`` of a LakeGuard commit; None if there is none."""


class AdoptionPlan(FrozenModel):
    """Everything a data plane needs to measure an existing table."""

    run: RunPlan
    commit: int
    files: tuple[CommittedFile, ...]

    @property
    def ticket(self) -> RunTicket:
        return self.run.ticket


class Undone(FrozenModel):
    """What an undo put back."""

    dataset: DatasetName
    version: int | None
    """The published version, whose state the table has again; None if there is none yet."""
    commits: tuple[int, ...] = ()
    """Commits of the log that were altered or lost, and were written back."""
    log_entries: tuple[str, ...] = ()
    """Entries that were taken out of the log, and are kept in its folder ``.undone``."""
    checksum_files: tuple[str, ...] = ()
    """Files whose wrong checksum file was removed."""
    moved: bool = False
    """Whether commits without a decision were undone."""


# Compaction: merges small files without changing a row.


class CompactionPlan(FrozenModel):
    """Everything a data plane needs to merge files of one table, fixed when the run opens."""

    ticket: RunTicket
    dataset: DatasetName
    dataset_id: str
    lease_seconds: float
    location: str
    base: TableBase
    groups: tuple[tuple[str, ...], ...]
    """Files to merge into one, by group: live files of one partition, relative to ``location``."""
    staging: str
    """Folder of the attempt, relative to ``location``."""
    table_schema: TableSchema = Field(alias="schema")
    partition_by: tuple[str, ...] = ()
    redacted_statistics: tuple[str, ...] = ()
    """Columns without minimum and maximum in file statistics."""


class Compacted(FrozenModel):
    """The merged files, with evidence that no row changed."""

    base_commit: int
    adds: tuple[StagedFile, ...]
    removes: tuple[str, ...]
    rows: int
    before: str
    """Order-independent digest of all rows of the removed files."""
    after: str
    """The same for the added files."""


# Maintenance: removal of files that are no longer needed.


class RemovalKind(StrEnum):
    STAGING = "staging"
    """Files that runs staged and did not publish."""
    VERSIONS = "versions"
    """Files that belong only to versions beyond retention."""
    QUARANTINE = "quarantine"
    """Files of quarantined rows."""
    UPLOADS = "uploads"
    """Parts of uploads to an object store that no process finished."""


class Removal(FrozenModel):
    """Files to remove, relative to the table's root; quarantine files are relative to the lake, and
    uploads are whole locations with their id."""

    kind: RemovalKind
    paths: tuple[str, ...]
    bytes: int
    runs: tuple[str, ...] = ()
    """Runs that staged or quarantined them."""
    versions: tuple[int, ...] = ()
    """Versions that cannot be restored without them."""


class Maintained(FrozenModel):
    """Planned or completed maintenance of a dataset's table."""

    dataset: DatasetName
    small_files: int
    """Files that could be merged."""
    removals: tuple[Removal, ...]
    done: bool
