"""The audit: who did what, and whether what is recorded is what was recorded."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.verification import FindingKind


class AuditRow(FrozenModel):
    """One thing that somebody did, or was refused."""

    at: Instant
    actor: str
    action: str
    allowed: bool = True
    dataset: str | None = None
    subject: str = ""
    """What it was done to, besides the dataset: a version, a job, a waiver."""
    reason: str = ""


class AuditHead(FrozenModel):
    """The end of the audit chain at a moment: whoever has it notices when rows before it change."""

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
