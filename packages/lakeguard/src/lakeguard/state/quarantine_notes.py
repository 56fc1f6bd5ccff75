"""Notes on rows that rules kept out of a table."""

from __future__ import annotations

from lakeguard.state.table_note import Family, Invariant, TableNote

_ASIDE = "tests/contract/test_quarantine.py"
_REPLAYS = "tests/contract/test_quarantine_replays.py"
_MACHINE = "tests/property/quarantine/test_quarantine.py"

QUARANTINE_NOTES: dict[str, TableNote] = {
    "quarantine_holdings": TableNote(
        Family.OURS,
        "Rows that one run filed under one rule; the files that hold them are a JSON array. What"
        " became of them is seen from what is published.",
        (
            Invariant(
                "Written with the version, or not at all.",
                constraints=("pk_quarantine_holdings", "fk_quarantine_holdings_version"),
                tests=(
                    f"{_ASIDE}::test_what_is_set_aside_waits_once_it_is_published",
                    f"{_ASIDE}::test_a_run_that_publishes_nothing_holds_nothing",
                ),
            ),
            Invariant(
                "There is no holding without a row.", constraints=("ck_quarantine_holdings_rows",)
            ),
            Invariant(
                "Whatever is published: read = published + waiting + written off + malformed.",
                tests=(f"{_MACHINE}::test_every_row_is_published_waits_or_is_written_off",),
            ),
        ),
    ),
    "quarantine_taken": TableNote(
        Family.OURS,
        "Which holdings a replay sent again; it counts where the version of the replay led to what"
        " is published.",
        (
            Invariant(
                "A replay takes a holding once, and a holding that there is.",
                constraints=("pk_quarantine_taken", "fk_quarantine_taken_holding"),
                tests=(f"{_REPLAYS}::test_what_fails_again_waits_again",),
            ),
        ),
    ),
    "quarantine_write_offs": TableNote(
        Family.OURS,
        "Holdings that somebody gave up, and why.",
        (
            Invariant(
                "A holding is written off once, as a whole.",
                constraints=(
                    "uq_quarantine_write_offs_holding",
                    "fk_quarantine_write_offs_holding",
                ),
                tests=(f"{_REPLAYS}::test_what_is_written_off_is_not_written_off_again",),
            ),
            Invariant(
                "Somebody says why.",
                constraints=("ck_quarantine_write_offs_reason",),
                tests=(f"{_REPLAYS}::test_nothing_is_written_off_without_a_reason",),
            ),
        ),
    ),
}
