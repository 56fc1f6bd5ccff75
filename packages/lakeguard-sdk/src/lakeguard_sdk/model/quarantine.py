"""Rows that rules keep out of a table: which run set them aside, and what became of them.

A row is filed under the first rule that it fails, in the order of the rules' ids, so that the
rows of all rules add up. What is filed under one rule by one run is kept, sent again or written
off as a whole.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.expressions.measures import Measure, MeasureValue

RUN = "lg_run_id"
RULES = "lg_rules"
REASON = "lg_reason"
FIRST_SEEN = "lg_first_seen"
KEPT_COLUMNS = {
    RUN: "string",
    RULES: "array<string>",
    REASON: "string",
    FIRST_SEEN: "timestamp",
}
"""What a kept row has after the columns of its batch, by name and type."""


class AsideRule(Noun):
    """A rule whose failing rows are set aside, and the two numbers that it is judged by."""

    rule_id: str
    expression: str
    failed: Measure
    scope: Measure


class AsideFile(Noun):
    """Rows that are filed under one rule; ``path`` is below the lake, not encoded."""

    rule_id: str
    path: str
    size: int
    rows: int
    modified_ms: int
    sha256: str
    first_seen: Instant
    """When the oldest of its rows was first set aside."""


class SetAside(Noun):
    """What a run kept out of the table: its files, and the batch as it was with those rows."""

    rows: int
    files: tuple[AsideFile, ...]
    before: dict[str, MeasureValue]
    """The measures of every rule that sets aside, by key, of all rows that the batch had."""


class KeptFile(Noun):
    """A file of rows that wait: ``path`` is below the lake, ``run_id`` set them aside."""

    run_id: str
    rule_id: str
    path: str
    rows: int
    sha256: str


class QuarantineBuild(Noun):
    """Rows that waited are the batch, each with the time when it was first set aside."""

    build: Literal["quarantine"] = "quarantine"
    files: tuple[KeptFile, ...]


class KeptState(StrEnum):
    """What became of rows that were set aside, as seen from what is published now."""

    WAITING = "WAITING"
    SENT_AGAIN = "SENT_AGAIN"
    """A replay took them: each is in the table, or was set aside anew."""
    WRITTEN_OFF = "WRITTEN_OFF"
    REPLACED = "REPLACED"
    """A later version has read the whole source again."""
    UNDONE = "UNDONE"
    """The version that set them aside is not in what is published: its batch is read again."""


class KeptRows(Noun):
    """What one run filed under one rule."""

    dataset: DatasetName
    run_id: str
    rule_id: str
    expression: str
    version: int
    rows: int
    state: KeptState
    first_seen: Instant
    set_aside_at: Instant
    files: tuple[KeptFile, ...]
    sent_again_by: str | None = None
    """The run of the replay that took them."""
    reason: str = ""
    """Why they were written off."""
    actor: str = ""


class KeptChoice(Noun):
    """Which of the waiting rows: of these runs and rules; of all where none is named."""

    runs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def takes(self, run_id: str, rule_id: str) -> bool:
        return (not self.runs or run_id in self.runs) and (not self.rules or rule_id in self.rules)


class ReplayOrder(Noun):
    """What a replay was given."""

    choice: KeptChoice
    as_newest: bool = False
    """Whether the rows count as newer than what the table has of their keys."""


class KeptListing(Noun):
    """Some of the rows that wait, as text; None is NULL."""

    dataset: DatasetName
    columns: tuple[str, ...]
    """Those of the batch, then ``KEPT_COLUMNS``."""
    rows: tuple[tuple[str | None, ...], ...]
    masked: tuple[str, ...] = ()
    """Columns of those whose values are not told."""
    waiting: int = 0
    """How many rows were chosen, shown or not."""
    refused: str = ""
    """Why a replay of them is refused as long as nobody says that they count as the newest."""
    read_anew: bool = False
    """Whether no replay can take them, and a whole run reads them again."""


class QuarantineBalance(Noun):
    """``read`` is ``published + waiting + written_off + malformed``, whatever is published.

    Counted over the versions that led to the published one, from the last that read everything.
    """

    dataset: DatasetName
    version: int | None
    read: int = 0
    published: int = 0
    """Rows that the load accounted for: taken, unchanged, late, or replaced in the same batch."""
    waiting: int = 0
    written_off: int = 0
    malformed: int = 0
    """Lines and values that no column could hold; they lie beside, and are not sent again."""
    oldest: Instant | None = Field(default=None)
    """When the oldest of the waiting rows was first set aside."""

    @property
    def adds_up(self) -> bool:
        return self.read == self.published + self.waiting + self.written_off + self.malformed
