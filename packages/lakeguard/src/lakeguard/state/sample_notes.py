"""Notes on samples."""

from __future__ import annotations

from lakeguard.state.table_note import Family, Invariant, TableNote

_SAMPLES = "tests/contract/test_samples.py"
_PRIVACY = "tests/contract/test_privacy.py"

SAMPLE_NOTES: dict[str, TableNote] = {
    "rule_samples": TableNote(
        Family.OURS,
        "A few failing rows of each rule that failed or warned; columns, rows and the masked among"
        " the columns are JSON arrays.",
        (
            Invariant(
                "A rule of a run has one sample, which comes from the attempt that was decided on.",
                constraints=("rule_samples_pkey",),
                tests=(
                    f"{_SAMPLES}::test_the_same_again_changes_nothing",
                    f"{_SAMPLES}::test_only_the_attempt_itself_brings_samples",
                ),
            ),
            Invariant(
                "No value of a column that carries a tag, or may have it from what it is made of,"
                " or that a PII policy is about.",
                tests=(
                    f"{_SAMPLES}::test_a_private_column_is_never_shown",
                    f"{_PRIVACY}::test_what_is_made_out_of_sight_carries_all_that_was_read",
                ),
            ),
            Invariant(
                "No text, where a policy that forbids a pattern in texts did not pass.",
                tests=(f"{_SAMPLES}::test_no_text_is_told_where_a_forbidden_pattern_may_be_in_it",),
            ),
            Invariant(
                "Nothing of a run whose staged files may not be kept.",
                tests=(f"{_SAMPLES}::test_a_discarded_run_keeps_no_samples",),
            ),
        ),
    ),
}
