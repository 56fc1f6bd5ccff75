"""Adoption: a Delta table of anybody's making becomes a governed dataset."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.commits import CommittedFile
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import RunPlan, RunTicket
from lakeguard_sdk.schema import TableSchema


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
