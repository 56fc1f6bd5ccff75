"""Result of a load: the candidate of a run relative to its base."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.quarantine import FIRST_SEEN, QUARANTINE_COLUMNS, QuarantineBuild
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import LiveFile
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.spark.types import quoted_name
from openlaketx.loads.table_state import Existing
from openlaketx.stage import Candidate


@dataclass(frozen=True)
class Loaded:
    """Files to add, remove and retain; nothing is visible yet."""

    candidate: Candidate
    """All files that the commit adds."""
    arrived: Candidate
    """Files with exactly the rows that the run inserts or updates.

    Equals the candidate unless the load rewrites files, whose other rows are not new.
    """
    read: Candidate
    """Files with all rows that were read, for the source position."""
    removes: tuple[str, ...]
    stays: tuple[LiveFile, ...]
    batch: int
    """Number of rows given to the load, including late ones."""
    changes: Changes | None = None
    lacking: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Files of the table that may lack partition columns, with their values from the log."""

    @property
    def rows(self) -> int:
        return self.arrived.rows

    @property
    def table_rows(self) -> int:
        return self.candidate.rows + sum(file.rows or 0 for file in self.stays)

    @property
    def is_nothing(self) -> bool:
        """Whether the table would not change."""
        return self.changes is not None and not self.candidate.files and not self.removes

    def without_quarantined(self, passed: Candidate) -> Loaded:
        """The result with fewer rows, for a load that adds the staged files unchanged."""
        gone = {file.path for file in self.arrived.files} - {file.path for file in passed.files}
        new = {file.path for file in passed.files} - {file.path for file in self.arrived.files}
        known = passed.without({file.path for file in passed.files} - new)
        fewer = self.arrived.rows - passed.rows
        changes = self.changes and self.changes.model_copy(
            update={"inserted": self.changes.inserted - fewer}
        )
        candidate = self.candidate.without(gone).joined(known)
        batch = self.batch - fewer
        return replace(self, candidate=candidate, arrived=passed, changes=changes, batch=batch)

    def with_files(self, candidate: Candidate) -> Loaded:
        return replace(self, candidate=candidate)


# Quarantine of rows before they are merged.


@dataclass(frozen=True)
class SplitBatch:
    """Files with the rows that pass, and locations of those that do not."""

    passed: Candidate
    quarantined: tuple[str, ...] = ()


SplitRows = Callable[[Candidate, TableSchema, Existing], SplitBatch]
"""Splits staged rows by the quarantine rules, before they are matched with the table."""


def no_quarantine(staged: Candidate, schema: TableSchema, existing: Existing) -> SplitBatch:
    """All rows pass."""
    return SplitBatch(staged)


def quarantined_keys(session: SparkSession, split: SplitBatch, plan: RunPlan) -> DataFrame | None:
    """Keys of the quarantined rows of a batch; None if all rows pass."""
    if not split.quarantined:
        return None
    rows = session.read.parquet(*map(spark_read_path, split.quarantined))
    keys = [rows[quoted_name(name)] for name in plan.load.keys]
    return rows.select(*keys).dropna().distinct()


def carries_time(plan: RunPlan) -> bool:
    """Whether each row of the batch has the time of its first quarantine."""
    return isinstance(plan.build, QuarantineBuild)


def with_time(schema: TableSchema, plan: RunPlan) -> TableSchema:
    """The schema with the column for that time, if the rows have it."""
    if not carries_time(plan):
        return schema
    time = Column(name=FIRST_SEEN, type=QUARANTINE_COLUMNS[FIRST_SEEN])
    return TableSchema(columns=(*schema.columns, time))


def time_last(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """The same frame with that column last, if it is present."""
    if not carries_time(plan):
        return frame
    others = (quoted_name(name) for name in frame.columns if name != FIRST_SEEN)
    return frame.select(*others, FIRST_SEEN)
