"""Quarantine: rows that rules exclude from a table, and their state.

A row is quarantined under the first rule it fails, in the order of rule ids, so that the rows of
all rules add up. The rows of one run and rule are replayed or discarded as a whole.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import Measure, MeasureValue

RUN = "lg_run_id"
RULES = "lg_rules"
REASON = "lg_reason"
FIRST_SEEN = "lg_first_seen"
QUARANTINE_COLUMNS = {
    RUN: "string",
    RULES: "array<string>",
    REASON: "string",
    FIRST_SEEN: "timestamp",
}
"""Columns of a quarantined row after those of its batch, by name and type."""


class QuarantineRule(FrozenModel):
    """A rule whose failing rows are quarantined, with its two measures."""

    rule_id: str
    expression: str
    failed: Measure
    scope: Measure


class StagedQuarantineFile(FrozenModel):
    """Quarantined rows of one rule; ``path`` is relative to the lake, not URL-encoded."""

    rule_id: str
    path: str
    size: int
    rows: int
    modified_ms: int
    sha256: str
    first_seen: Instant
    """When its oldest row was first quarantined."""


class QuarantinedRows(FrozenModel):
    """The quarantined rows of a run, and the measures of the batch before the split."""

    rows: int
    files: tuple[StagedQuarantineFile, ...]
    before: dict[str, MeasureValue]
    """Measures of all quarantine rules over the whole batch, by key."""


class QuarantineFile(FrozenModel):
    """A file of quarantined rows: ``path`` is relative to the lake, ``run_id`` quarantined them."""

    run_id: str
    rule_id: str
    path: str
    rows: int
    sha256: str


class QuarantineBuild(FrozenModel):
    """A batch of quarantined rows, each with the time when it was first quarantined."""

    build: Literal["quarantine"] = "quarantine"
    files: tuple[QuarantineFile, ...]


class QuarantineState(StrEnum):
    """State of quarantined rows, relative to the published version."""

    QUARANTINED = "QUARANTINED"
    REPLAYED = "REPLAYED"
    """A replay took them: each is in the table or quarantined again."""
    DISCARDED = "DISCARDED"
    REPLACED = "REPLACED"
    """A later version read the whole source again."""
    UNDONE = "UNDONE"
    """The version that quarantined them was rolled back: its batch is read again."""


class QuarantineEntry(FrozenModel):
    """Quarantined rows of one run and rule."""

    dataset: DatasetName
    run_id: str
    rule_id: str
    expression: str
    version: int
    rows: int
    state: QuarantineState
    first_seen: Instant
    quarantined_at: Instant
    files: tuple[QuarantineFile, ...]
    replayed_by: str | None = None
    """The run of the replay that took them."""
    reason: str = ""
    """Why they were discarded."""
    actor: str = ""


class QuarantineSelection(FrozenModel):
    """Selects quarantined rows by run and rule; empty means all."""

    runs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def takes(self, run_id: str, rule_id: str) -> bool:
        return (not self.runs or run_id in self.runs) and (not self.rules or rule_id in self.rules)


class ReplayParameters(FrozenModel):
    """The parameters of a replay."""

    choice: QuarantineSelection
    as_newest: bool = False
    """Whether the rows count as newer than the table's rows of their keys."""


class QuarantineListing(FrozenModel):
    """Some quarantined rows, as text; None is NULL."""

    dataset: DatasetName
    columns: tuple[str, ...]
    """Those of the batch, then ``QUARANTINE_COLUMNS``."""
    rows: tuple[tuple[str | None, ...], ...]
    masked: tuple[str, ...] = ()
    """Masked columns."""
    quarantined: int = 0
    """Number of selected rows, shown or not."""
    refused: str = ""
    """Why a replay is refused unless ``as_newest`` is set."""
    read_anew: bool = False
    """Whether they cannot be replayed because every run reads the whole source."""


class QuarantineBalance(FrozenModel):
    """``read`` equals ``published + quarantined + discarded + malformed`` at every version.

    Counted over the ancestors of the published version, since the last that read everything.
    """

    dataset: DatasetName
    version: int | None
    read: int = 0
    published: int = 0
    """Rows passed to the load: loaded, unchanged, late, or replaced in the same batch."""
    quarantined: int = 0
    discarded: int = 0
    malformed: int = 0
    """Lines and values that no column can hold; they cannot be replayed."""
    oldest: Instant | None = Field(default=None)
    """When the oldest waiting row was first quarantined."""

    @property
    def adds_up(self) -> bool:
        return self.read == self.published + self.quarantined + self.discarded + self.malformed
