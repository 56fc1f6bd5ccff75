"""Notes on every table and view of the State, by name."""

from __future__ import annotations

from tools.docs.table_notes.data import INGESTION_NOTES, QUARANTINE_NOTES
from tools.docs.table_notes.definitions import CONTROL_NOTES, DEFINITION_NOTES
from tools.docs.table_notes.identity import IDENTITY_NOTES
from tools.docs.table_notes.note import Family, Invariant, TableNote
from tools.docs.table_notes.orchestration import DISPATCH_NOTES, NOTIFICATION_NOTES
from tools.docs.table_notes.platform import PLATFORM_NOTES, PROMOTION_NOTES
from tools.docs.table_notes.records import RECORD_NOTES
from tools.docs.table_notes.runs import LEDGER_NOTES, SAMPLE_NOTES, WAIVER_NOTES

__all__ = ["NOTES", "Family", "Invariant", "TableNote"]

NOTES: dict[str, TableNote] = {
    **DEFINITION_NOTES,
    **LEDGER_NOTES,
    **PROMOTION_NOTES,
    **CONTROL_NOTES,
    **INGESTION_NOTES,
    **PLATFORM_NOTES,
    **IDENTITY_NOTES,
    **WAIVER_NOTES,
    **SAMPLE_NOTES,
    **QUARANTINE_NOTES,
    **NOTIFICATION_NOTES,
    **DISPATCH_NOTES,
    **RECORD_NOTES,
}
"""The order is that of the page; a test compares the keys with the tables and views."""
