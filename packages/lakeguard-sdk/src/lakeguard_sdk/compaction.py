"""Compaction: many small files of a table become few, and no row changes."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import RunTicket, TableBase
from lakeguard_sdk.schema import TableSchema


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
