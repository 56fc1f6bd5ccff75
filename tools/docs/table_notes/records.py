"""Notes on kinds and metadata records."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_SQL = "tests/contract/records/test_sql_repository.py"
_REPOSITORY = "tests/contract/records/test_repository.py"
_KINDS = "tests/contract/records/test_kinds.py"
_ELSEWHERE = "Metadata records are no facts of the ledger; retention deletes them."

RECORD_NOTES: dict[str, TableNote] = {
    "metadata_kinds": TableNote(
        Family.RECORDS,
        "Registered versions of the kinds of metadata records, `body` with the JSON schema of each."
        " Kinds that come with LakeGuard have no row before their next version.",
        (
            Invariant(
                "A later version refuses no payload that an earlier one accepts.",
                constraints=("pk_metadata_kinds", "ck_metadata_kinds_version"),
                tests=(f"{_KINDS}::test_a_later_version_of_a_kind_refuses_nothing_more",),
            ),
        ),
        not_in_lake=_ELSEWHERE,
    ),
    "metadata_records": TableNote(
        Family.RECORDS,
        "Facts that producers emit. `body` is the record as JSON; the other columns are what"
        " queries search by.",
        (
            Invariant(
                "A fact is there once in each of its versions, and one of them is the newest.",
                constraints=("pk_metadata_records", "ck_metadata_records_version"),
                tests=(f"{_REPOSITORY}::test_a_higher_version_replaces_a_fact",),
            ),
            Invariant(
                "`stored_seq` is in the order of the commits, so `tail` leaves out no record.",
                constraints=("uq_metadata_records_seq",),
                tests=(f"{_SQL}::test_tail_leaves_out_nothing_that_commits_late",),
            ),
            Invariant(
                "A row with another body than was written is never returned.",
                tests=(f"{_SQL}::test_a_damaged_row_is_never_returned",),
            ),
        ),
        not_in_lake=_ELSEWHERE,
    ),
    "record_positions": TableNote(
        Family.RECORDS,
        "The last `stored_seq` of an organisation; `log_id` tells cursors of this State from those"
        " of another.",
        (
            Invariant(
                "A number is given once, also if its row is deleted later.",
                constraints=("record_positions_pkey",),
                tests=(f"{_SQL}::test_the_number_of_a_deleted_row_is_not_given_again",),
            ),
        ),
        not_in_lake=_ELSEWHERE,
    ),
}
