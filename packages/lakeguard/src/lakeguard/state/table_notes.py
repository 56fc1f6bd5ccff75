"""Notes on every table and view of the State, in one import."""

from __future__ import annotations

from lakeguard.state.alert_notes import ALERT_NOTES
from lakeguard.state.control_notes import CONTROL_NOTES
from lakeguard.state.definition_notes import DEFINITION_NOTES
from lakeguard.state.dispatch_notes import DISPATCH_NOTES
from lakeguard.state.ingestion_notes import INGESTION_NOTES
from lakeguard.state.ledger_notes import LEDGER_NOTES
from lakeguard.state.platform_notes import PLATFORM_NOTES
from lakeguard.state.quarantine_notes import QUARANTINE_NOTES
from lakeguard.state.sample_notes import SAMPLE_NOTES
from lakeguard.state.table_note import TableNote
from lakeguard.state.waiver_notes import WAIVER_NOTES

NOTES: dict[str, TableNote] = {
    **DEFINITION_NOTES,
    **LEDGER_NOTES,
    **CONTROL_NOTES,
    **INGESTION_NOTES,
    **PLATFORM_NOTES,
    **WAIVER_NOTES,
    **SAMPLE_NOTES,
    **QUARANTINE_NOTES,
    **ALERT_NOTES,
    **DISPATCH_NOTES,
}
"""By name; a test holds the keys against the tables and views there are."""
