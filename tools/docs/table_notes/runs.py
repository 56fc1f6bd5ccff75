"""Notes on runs, decisions, moves and versions, and on waivers and samples."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_CLIENT = "tests/contract/client/test_client.py"
_OPENING = "tests/contract/promotion/test_opening.py"
_STATES = "tests/contract/promotion/test_promotion_states.py"
_SEEDS = "tests/contract/ledger/test_seed_tables.py"
_REASONS = "tests/contract/promotion/test_promotion_reasons.py::test_warnings_and_waivers_are_told"
_DISTRUST = "tests/contract/promotion/test_rejected_commits.py"
_MOVE = "tests/property/move/test_move.py::test_a_real_move_keeps_every_promise"
_KILLED = "tests/faults/test_killed.py::test_a_killed_run"
_TOLD = "tests/contract/ledger/test_seed_views.py::test_every_view_tells_the_truth"
_WAIVERS = "tests/contract/insight/test_waivers.py"
_SAMPLES = "tests/contract/privacy/test_samples.py"
_PRIVACY = "tests/contract/privacy/test_privacy.py"

LEDGER_NOTES: dict[str, TableNote] = {
    "data_versions": TableNote(
        Family.METADATA_MODEL,
        "Every state of a dataset that was approved and published; an attempt is not one.",
        (
            Invariant(
                "Versions of a dataset count 1, 2, 3 and so on, without a gap.",
                constraints=("pk_data_versions", "ck_data_versions_version"),
                tests=(_MOVE,),
            ),
            Invariant(
                "A version has a decision and a run behind it, and no other version has the same.",
                constraints=(
                    "data_versions_decision_id_fkey",
                    "data_versions_decision_id_key",
                    "data_versions_run_id_key",
                ),
            ),
            Invariant(
                "What was written in part, or otherwise than approved, is no version.",
                tests=(
                    _KILLED,
                    f"{_DISTRUST}::test_a_commit_other_than_approved_is_no_version",
                ),
            ),
            Invariant(
                "`promoted_by` is the job that built it; without one, the dataset's own.",
                tests=(f"{_SEEDS}::test_a_version_names_the_job_that_made_it",),
            ),
            Invariant(
                "A version is neither changed nor deleted.",
                triggers=("data_versions_no_update", "data_versions_no_delete"),
                tests=("tests/migration/test_schema.py::test_nothing_can_be_updated_or_deleted",),
            ),
        ),
    ),
    "run_history": TableNote(
        Family.METADATA_MODEL,
        "How every attempt to build or to roll back ended, and why.",
        (
            Invariant(
                "Each attempt ends in exactly one row.",
                constraints=(
                    "run_history_pkey",
                    "uq_run_history_attempt",
                    "run_history_run_id_fkey",
                ),
                tests=(_MOVE,),
            ),
            Invariant(
                "The status is one of the three that are final.",
                constraints=("ck_run_history_status",),
            ),
            Invariant(
                "A failure is never overwritten: the next attempt has a row of its own.",
                triggers=("run_history_no_update",),
                tests=(f"{_CLIENT}::test_only_a_failed_task_is_queued_again_and_not_for_ever",),
            ),
            Invariant("A run whose process died is ended by the next command.", tests=(_KILLED,)),
        ),
    ),
    "promotion_status": TableNote(
        Family.METADATA_MODEL,
        "The history of yes and no: may this dataset move from one layer to the next?",
        (
            Invariant(
                "Each answer names the recorded decision that gave it; a dataset that is registered"
                " and has none yet is REGISTERED.",
                constraints=("promotion_status_decision_id_fkey", "ck_promotion_status_decided"),
                tests=(f"{_OPENING}::test_promotion_status_is_the_history_of_yes_and_no",),
            ),
            Invariant(
                "A decision makes a dataset ELIGIBLE or BLOCKED, whatever it was; nothing but"
                " PROMOTED follows its ELIGIBLE, and nothing follows its BLOCKED or PROMOTED.",
                tests=(f"{_STATES}::test_what_may_not_follow_is_refused_and_not_written",),
            ),
            Invariant(
                "`reason` says what blocked, else what passed: warnings, waived failures, checks"
                " that were not made, and whether it was a rollback.",
                tests=(_REASONS,),
            ),
            Invariant(
                "The data plane moves nothing without a yes.",
                tests=(f"{_CLIENT}::test_nothing_moves_without_a_decision",),
            ),
            Invariant(
                "What was committed past the gate is noticed, and blocks until it is undone.",
                tests=(f"{_CLIENT}::test_a_rogue_commit_blocks_until_it_is_undone",),
            ),
        ),
    ),
    "documents": TableNote(
        Family.OURS,
        "What decisions looked at and runs were given, stored once under the hash of its text.",
        (
            Invariant(
                "One text per hash.",
                constraints=("pk_documents",),
                tests=("tests/property/sdk/test_canonical.py::test_a_value_has_one_text",),
            ),
            Invariant(
                "A document stays as it was written.",
                triggers=("documents_no_update", "documents_no_delete"),
                tests=("tests/migration/test_schema.py::test_a_written_row_stays",),
            ),
        ),
    ),
    "decisions": TableNote(
        Family.OURS,
        "The gate's answers: verdict, every check, and the hashes of all that was looked at.",
        (
            Invariant(
                "A run gets one decision, and it cannot be exchanged.",
                constraints=("decisions_run_id_key", "decisions_run_id_fkey"),
                tests=(f"{_CLIENT}::test_evidence_cannot_be_exchanged_after_the_decision",),
            ),
            Invariant("The verdict is ALLOWED or BLOCKED.", constraints=("ck_decisions_verdict",)),
            Invariant(
                "Made again from what it looked at, it comes out byte for byte the same.",
                tests=(f"{_CLIENT}::test_decisions_replay_byte_for_byte",),
            ),
        ),
    ),
    "governed_tables": TableNote(
        Family.OURS,
        "Which Delta table belongs to which dataset.",
        (
            Invariant(
                "A dataset has one table, and a table one dataset.",
                constraints=("governed_tables_pkey", "governed_tables_table_id_key"),
                tests=(
                    "tests/contract/promotion/test_governed_tables.py::test_a_table_of_another_dataset_is_refused",
                ),
            ),
        ),
    ),
    "intents": TableNote(
        Family.OURS,
        "Permissions to make one numbered commit, taken before the commit is tried.",
        (
            Invariant(
                "A number of a table is given once, for one run and one decision.",
                constraints=(
                    "uq_intents_seq",
                    "intents_run_id_key",
                    "intents_decision_id_key",
                    "intents_decision_id_fkey",
                ),
            ),
            Invariant(
                "At most one is open per table.",
                tests=(
                    f"{_OPENING}::test_a_second_move_on_a_table_is_busy",
                    "tests/faults/test_racing.py::test_publishers_exclude_each_other_and_lose_nothing",
                ),
            ),
        ),
    ),
    "intent_outcomes": TableNote(
        Family.OURS,
        "What became of each intent: committed, fenced, or overtaken by another.",
        (
            Invariant(
                "An intent ends once, in one of four ways.",
                constraints=(
                    "intent_outcomes_pkey",
                    "intent_outcomes_intent_id_fkey",
                    "ck_intent_outcome",
                ),
            ),
            Invariant(
                "One that was fenced can never be published.",
                tests=(
                    "tests/contract/promotion/test_governed_tables.py::test_a_fence_ends_an_intent_for_ever",
                ),
            ),
        ),
    ),
    "dataset_pointers": TableNote(
        Family.ORCHESTRATION,
        "Which version of a dataset is published, now and at every time before.",
        (
            Invariant(
                "Each move of the pointer is a row with its own decision; the last one counts.",
                constraints=(
                    "pk_dataset_pointers",
                    "dataset_pointers_decision_id_key",
                    "dataset_pointers_decision_id_fkey",
                ),
                tests=(f"{_CLIENT}::test_a_rollback_is_a_move_like_any_other",),
            ),
            Invariant("The table shows what the pointer says.", tests=(_MOVE,)),
        ),
    ),
    "materializations": TableNote(
        Family.ORCHESTRATION,
        "What a task brought forth: one version, with its rows and bytes.",
        (
            Invariant(
                "A task, a version and an idempotency key have one each.",
                constraints=(
                    "materializations_task_id_key",
                    "uq_materializations_version",
                    "uq_materializations_idempotency_key",
                ),
                tests=(f"{_CLIENT}::test_one_key_is_one_task_and_one_version",),
            ),
            Invariant(
                "Notes that the build attached to its version: JSON, at most 64 KiB.",
                tests=(f"{_CLIENT}::test_what_a_build_says_stays_with_its_version",),
            ),
        ),
    ),
    "version_inputs": TableNote(
        Family.ORCHESTRATION,
        "From which versions of which datasets a version was built.",
        (
            Invariant("An input is there once per version.", constraints=("pk_version_inputs",)),
            Invariant(
                "It is the version that was pinned when the run opened.",
                tests=(f"{_OPENING}::test_inputs_are_pinned_when_the_run_opens",),
            ),
        ),
    ),
    "tasks": TableNote(
        Family.ORCHESTRATION,
        "Work that was asked for, and who holds it until when.",
        (
            Invariant(
                "The same key of a dataset is the same task.",
                constraints=("uq_tasks_dedupe_key",),
                tests=(f"{_CLIENT}::test_one_key_is_one_task_and_one_version",),
            ),
            Invariant("Attempts are counted from the first on.", constraints=("ck_tasks_attempt",)),
            Invariant(
                "Only who holds the lease can report on the run.",
                tests=(
                    f"{_CLIENT}::test_a_forged_ticket_is_fenced",
                    f"{_CLIENT}::test_an_attempt_that_is_over_is_fenced",
                ),
            ),
        ),
    ),
    "task_attempts": TableNote(
        Family.ORCHESTRATION,
        "Each attempt of a task, its run and the worker that began it.",
        (
            Invariant(
                "An attempt is one run, of a task that exists.",
                constraints=(
                    "pk_task_attempts",
                    "task_attempts_run_id_key",
                    "task_attempts_task_id_fkey",
                ),
            ),
        ),
    ),
    "run_openings": TableNote(
        Family.OURS,
        "What a run was given when it opened: plan, pinned rules and inputs, base version.",
        (
            Invariant(
                "A run opens once.",
                constraints=("run_openings_pkey", "run_openings_run_id_fkey"),
            ),
            Invariant(
                "What was pinned counts until the run ends, whatever is applied meanwhile.",
                tests=(f"{_OPENING}::test_rules_are_pinned_when_the_run_opens",),
            ),
        ),
    ),
    "run_schemas": TableNote(
        Family.OURS,
        "The schema that a run found at its source, and the answer that it got.",
        (
            Invariant(
                "A run asks once and gets one answer, before it stages anything.",
                constraints=("run_schemas_pkey", "run_schemas_run_id_fkey"),
                tests=(f"{_OPENING}::test_the_live_schema_is_judged_before_staging",),
            ),
        ),
    ),
    "maintenance_log": TableNote(
        Family.OURS,
        "Which files maintenance removed from a table, and which versions went with them.",
        (
            Invariant(
                "It is written before the first file is deleted, so `verify` can distinguish"
                " removed files from lost ones.",
                tests=("tests/faults/test_killed.py::test_a_killed_maintenance",),
            ),
            Invariant(
                "No file that a kept version needs is in it.",
                tests=(
                    "tests/contract/promotion/test_maintenance.py::test_kept_versions_stay_whole",
                ),
            ),
        ),
    ),
}

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
                "It covers the check as it was defined when the waiver was given.",
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
