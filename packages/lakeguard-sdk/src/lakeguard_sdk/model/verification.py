"""Proof that the ledger is whole: findings of ``verify``, answers of ``sync`` and ``rebuild``."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.core.frozen_model import Noun


class FindingKind(StrEnum):
    """In the order of their exit codes, from 10."""

    ROW = "row"
    """A row of the State is not the one that the ledger holds."""
    LEDGER = "ledger"
    """A table of the ledger is gone, damaged or not readable."""
    CHAIN = "chain"
    """A batch does not hash to its link, or a link does not follow from the one before."""
    TRUNCATED = "truncated"
    """The chain ends before a head that was told outside."""
    COMMIT = "commit"
    """A governed table shows data that no decision stands behind."""
    FILE = "file"
    """A data file is gone or is not the one that was published."""
    DOCUMENT = "document"
    """What a decision looked at is gone or was altered."""
    REPLAY = "replay"
    """A decision made again comes out otherwise."""
    HISTORY = "history"
    """Rows contradict each other: a gap, a double, a reference to nothing."""
    DATA = "data"
    """A data database has what the State knows nothing of, or lacks what is published."""
    UNSEEN = "unseen"
    """A data database could not be looked at: nothing is known of what it has."""

    @property
    def exit_code(self) -> int:
        return 10 + list(FindingKind).index(self)


class Finding(Noun):
    """One thing that is wrong, and where."""

    kind: FindingKind
    place: str
    message: str


class VerifyReport(Noun):
    """``head`` is the chain's now: kept elsewhere, it proves a later truncation."""

    findings: tuple[Finding, ...]
    rows: int
    batches: int
    tables: int
    commits: int
    files: int
    decisions: int
    head: str

    @property
    def exit_code(self) -> int:
        return min((finding.kind.exit_code for finding in self.findings), default=0)


class Synced(Noun):
    """What a drain of the relay brought to the ledger."""

    batches: int
    rows: int
    head: str


class Rebuilt(Noun):
    rows: int
    batches: int
    head: str
    dropped_rows: int = 0
    """Of a batch that the ledger never had whole."""
    undelivered_rows: int = 0
    """That the State had told before and the ledger never got."""
