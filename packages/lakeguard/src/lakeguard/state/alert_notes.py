"""Notes on alerts."""

from __future__ import annotations

from lakeguard.state.table_note import Family, Invariant, TableNote

_RAISED = "tests/contract/test_alerts_raised.py"
_SENT = "tests/contract/test_alerts_sent.py"
_KILLED = "tests/faults/test_killed_alerts.py"

ALERT_NOTES: dict[str, TableNote] = {
    "alerts": TableNote(
        Family.OURS,
        "What somebody should hear of: blocks, warnings, broken promises, failures, rollbacks."
        " The payload is JSON.",
        (
            Invariant(
                "It is written together with what it tells, and once.",
                constraints=("uq_alerts_dedupe", "ck_alerts_severity"),
                tests=(
                    f"{_RAISED}::test_a_block_is_told_with_its_decision",
                    f"{_RAISED}::test_what_is_late_is_told_once_until_it_ends",
                ),
            ),
            Invariant(
                "It holds no value of a row, and nothing that an engine said.",
                tests=(
                    f"{_RAISED}::test_what_an_engine_said_is_not_told",
                    f"{_RAISED}::test_what_a_rule_observed_is_not_told",
                ),
            ),
        ),
    ),
    "alert_channels": TableNote(
        Family.OURS,
        "Since when each channel tells alerts.",
        (
            Invariant(
                "A new channel tells nothing of before.",
                constraints=("pk_alert_channels",),
                tests=(f"{_SENT}::test_a_new_channel_tells_nothing_of_before",),
            ),
        ),
    ),
    "alert_deliveries": TableNote(
        Family.OURS,
        "Every attempt of a channel to tell an alert, and what came of it.",
        (
            Invariant(
                "A channel has told an alert once, whoever tried, and however he ended.",
                constraints=(
                    "pk_alert_deliveries",
                    "ck_alert_deliveries_outcome",
                    "alert_deliveries_alert_id_fkey",
                ),
                tests=(
                    f"{_SENT}::test_two_processes_tell_an_alert_once",
                    f"{_KILLED}::test_a_file_has_each_alert_once",
                ),
            ),
            Invariant(
                "What was told stays told, also in a State that was rebuilt.",
                tests=(f"{_SENT}::test_a_rebuilt_state_tells_nothing_again",),
            ),
        ),
    ),
}
