"""Notes on waivers."""

from __future__ import annotations

from lakeguard.state.table_note import Family, Invariant, TableNote

_WAIVERS = "tests/contract/test_waivers.py"

WAIVER_NOTES: dict[str, TableNote] = {
    "waivers": TableNote(
        Family.OURS,
        "Who answers, for a time, for a rule that fails or an ALERT policy that is violated.",
        (
            Invariant(
                "Somebody answers for it, and says why.",
                constraints=("ck_waivers_kind", "ck_waivers_answered_for"),
                tests=(f"{_WAIVERS}::test_a_waiver_says_who_why_and_until_when",),
            ),
            Invariant(
                "No waiver touches a BLOCK policy.",
                tests=(f"{_WAIVERS}::test_a_block_policy_cannot_be_waived",),
            ),
            Invariant(
                "It holds for what the check said when it was given.",
                tests=(f"{_WAIVERS}::test_a_waiver_holds_for_what_the_check_said",),
            ),
            Invariant(
                "It ends by itself, and is in every decision that it touched.",
                tests=(f"{_WAIVERS}::test_a_waiver_ends_by_itself",),
            ),
        ),
    ),
    "waiver_revocations": TableNote(
        Family.OURS,
        "Waivers that were taken back before their end.",
        (
            Invariant(
                "A waiver is taken back once, and holds no more from then on.",
                constraints=("waiver_revocations_pkey", "waiver_revocations_waiver_id_fkey"),
                tests=(f"{_WAIVERS}::test_a_waiver_can_be_taken_back",),
            ),
        ),
    ),
}
