"""Results of ``verify``, ``sync``, ``rebuild`` and ``migrate``, and the audit: who did what, and
whether the record was changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


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


# The audit.


class AuditRow(FrozenModel):
    """An action, performed or refused."""

    at: Instant
    actor: str
    action: str
    allowed: bool = True
    dataset: str | None = None
    subject: str = ""
    """The object besides the dataset: a version, a job, a waiver."""
    reason: str = ""


class AuditHead(FrozenModel):
    """The end of the audit chain at a moment. It proves later that no row before it has changed."""

    organisation: str
    batch: int
    head: str
    at: Instant


class SignedHead(FrozenModel):
    """Signed with Ed25519 over the canonical JSON of the head."""

    head: AuditHead
    key: str
    """The public key, 32 bytes in base64."""
    signature: str


class RowChange(StrEnum):
    """What was done to a recorded row."""

    EDITED = "edited"
    DELETED = "deleted"
    REORDERED = "reordered"
    ADDED = "added"
    TRUNCATED = "truncated"
    DAMAGED = "damaged"
    """The table or file that holds it cannot be read."""


class ChangedRow(FrozenModel):
    change: RowChange
    place: str
    """Table and key of the row."""
    message: str


class AuditReport(FrozenModel):
    """``changed`` is in the order in which the rows were recorded, the first one first."""

    changed: tuple[ChangedRow, ...]
    rows: int
    batches: int
    head: str
    exported: AuditHead | None = None
    """The exported head that the chain was compared with."""
    signed_by: str = ""
    """The public key of that head."""

    @property
    def exit_code(self) -> int:
        if not self.changed:
            return 0
        truncated = self.changed[0].change is RowChange.TRUNCATED
        return (FindingKind.TRUNCATED if truncated else FindingKind.CHAIN).exit_code


class Audit(Protocol):
    """Who did what, and whether the record of it was changed."""

    def rows(
        self,
        *,
        since: datetime | None = None,
        actor: str | None = None,
        dataset: DatasetName | None = None,
        limit: int = 50,
    ) -> Sequence[AuditRow]:
        """Newest first."""

    def verify(self, head: SignedHead | None = None) -> AuditReport:
        """Raises ``AuditHeadRefused`` if the head is not authentic."""

    def head(self) -> SignedHead:
        """The current end of the chain, to be stored elsewhere."""
