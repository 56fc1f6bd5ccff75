"""Results of ``verify``, ``sync``, ``rebuild`` and ``migrate``."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel


class FindingKind(StrEnum):
    """In the order of their exit codes, from 10."""

    ROW = "row"
    """A row differs between the state database and the ledger."""
    LEDGER = "ledger"
    """A table of the ledger is missing, damaged or unreadable."""
    CHAIN = "chain"
    """The hash chain of batches is broken."""
    TRUNCATED = "truncated"
    """The chain ends before the expected head."""
    COMMIT = "commit"
    """A governed table has a data commit without a decision."""
    FILE = "file"
    """A data file is missing or differs from the published one."""
    DOCUMENT = "document"
    """An input of a decision is missing or was altered."""
    REPLAY = "replay"
    """The replay of a decision differs."""
    HISTORY = "history"
    """Inconsistent rows: gaps, duplicates or dangling references."""
    DATA = "data"
    """A target database has unknown tables, or lacks published ones."""
    UNSEEN = "unseen"
    """A target database could not be checked."""

    @property
    def exit_code(self) -> int:
        return 10 + list(FindingKind).index(self)


class Finding(FrozenModel):
    """One problem and its location."""

    kind: FindingKind
    place: str
    message: str
    next_command: str = Field(default="", exclude_if=lambda command: not command)
    """What repairs it, if it is not what repairs others of its kind."""


class VerifyReport(FrozenModel):
    """``head`` is the current head of the chain: stored elsewhere, it detects truncation."""

    findings: tuple[Finding, ...]
    rows: int
    """Of facts, and of the tables derived from them."""
    facts: int = 0
    batches: int
    tables: int
    commits: int
    files: int
    decisions: int
    head: str

    @property
    def exit_code(self) -> int:
        return min((finding.kind.exit_code for finding in self.findings), default=0)


class Synced(FrozenModel):
    """Batches and rows delivered to the ledger."""

    batches: int
    rows: int
    head: str


class Rebuilt(FrozenModel):
    rows: int
    batches: int
    head: str
    dropped_rows: int = 0
    """Rows of a batch that is incomplete in the ledger."""
    undelivered_rows: int = 0
    """Rows of the previous state that never reached the ledger."""


class Migrated(FrozenModel):
    place: str
    revision: str
    before: str | None
    """The revision found; None if there were no tables."""
    service_role: str = ""
    """The role that row-level security binds to one organisation; empty if the owner connects."""
