"""Notes on definitions: the registry's tables, and the views of jobs, datasets and targets."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_STORE = "tests/unit/registry/test_store.py"
_GIVEN = "tests/unit/registry/test_given_values.py"
_PLANNING = "tests/unit/registry/test_planning.py"
_OPENING = "tests/contract/promotion/test_opening.py"
_CLIENT = "tests/contract/client/test_client.py"
_VIEWS = "tests/contract/ledger/test_seed_views.py::test_every_view_tells_the_truth"
_SEEDS = "tests/contract/ledger/test_seed_tables.py"
_FIRST_HOUR = "tests/e2e/test_first_hour.py"
_SECRETS = (
    "tests/unit/registry/test_hostile.py::test_a_secret_is_refused_anywhere_and_shown_nowhere",
)


def _numbered(key: str, table: str, *tests: str) -> Invariant:
    """What holds for every table of revisions."""
    return Invariant(
        f"A change is a new revision: per {key}, each number is there once, and each row names the"
        " apply that brought it.",
        constraints=(f"pk_{table}", f"{table}_apply_id_fkey"),
        tests=tuple(f"{_STORE}::{name}" for name in tests),
    )


def _latest(of: str) -> Invariant:
    """What holds for every view of what counts now."""
    return Invariant(f"One row per key: the latest revision in `{of}`.", tests=(_VIEWS,))


def _detail(of: str) -> Invariant:
    return Invariant(
        f"Each name is there once per {of}, with its value in the latest revision.", tests=(_VIEWS,)
    )


DEFINITION_NOTES: dict[str, TableNote] = {
    "registry_applies": TableNote(
        Family.OURS,
        "Each time that definitions were applied: who, when, and the registry's hash afterwards.",
        (
            Invariant(
                "Of two applies at once, one gets the next number and the other is refused.",
                constraints=("uq_registry_applies_ordinal",),
                tests=(f"{_STORE}::test_a_registry_that_moved_is_refused",),
            ),
            Invariant(
                "An apply is whole or did not happen.",
                tests=(f"{_STORE}::test_nothing_stays_of_an_apply_that_did_not_commit",),
            ),
        ),
    ),
    "dataset_registry_revisions": TableNote(
        Family.OURS,
        "Every revision of every dataset's definition, word for word.",
        (
            _numbered(
                "dataset",
                "dataset_registry_revisions",
                "test_a_change_is_a_new_revision_and_the_old_one_stays",
            ),
            Invariant(
                "No two datasets get one name in revisions of the same number, and a second"
                " definition of a name is refused.",
                constraints=("uq_dataset_registry_name",),
                tests=(f"{_PLANNING}::test_a_second_definition_of_one_name_is_refused",),
            ),
        ),
    ),
    "dataset_registry": TableNote(
        Family.METADATA_MODEL,
        "The datasets there are; what has no row here can be neither built nor read.",
        (
            _latest("dataset_registry_revisions"),
            Invariant(
                "An unregistered dataset does not exist for any call.",
                tests=(f"{_CLIENT}::test_what_is_not_registered_does_not_exist",),
            ),
            Invariant(
                "A dataset keeps its id and the time of its registration, whatever is revised.",
                triggers=("dataset_registry_revisions_no_update",),
                tests=(f"{_OPENING}::test_the_registry_remembers_the_first_registration",),
            ),
            Invariant(
                "A dataset stays in the one layer that it was registered in.",
                tests=("tests/unit/registry/test_layers.py::test_a_dataset_keeps_its_layer",),
            ),
            Invariant(
                "Gold is built from at least one silver dataset, and from nothing below silver.",
                tests=(
                    "tests/unit/registry/test_build_mistakes.py::test_a_mistake_is_told_where_it_stands",
                    f"{_PLANNING}::test_a_definition_from_a_strangers_hand_is_held_to_the_same",
                ),
            ),
            Invariant(
                "What is not active is not run.",
                tests=(f"{_OPENING}::test_a_disabled_dataset_is_refused_by_name",),
            ),
        ),
        key=("dataset_id",),
    ),
    "quality_rules_revisions": TableNote(
        Family.OURS,
        "Every revision of every rule, and the revision of the dataset that dropped it.",
        (
            _numbered(
                "dataset and rule",
                "quality_rules_revisions",
                "test_rules_have_revisions_of_their_own",
            ),
            Invariant(
                "A rule that was dropped keeps its row, and may come back in a later revision.",
                tests=(f"{_STORE}::test_a_removed_rule_can_come_back",),
            ),
        ),
    ),
    "quality_rules": TableNote(
        Family.METADATA_MODEL,
        "The rules that a dataset's rows are held to.",
        (
            _latest("quality_rules_revisions"),
            Invariant(
                "`rule_id` is unique: the name of the dataset and `check_id`, which commands take."
                " An id that a row gave is kept in `external_id`.",
                tests=(f"{_SEEDS}::test_rule_ids_are_unique_and_given_ids_are_kept",),
            ),
            Invariant(
                "Rules are judged before a table moves, each as it stood when the run opened.",
                tests=(
                    f"{_CLIENT}::test_nothing_moves_without_a_decision",
                    f"{_OPENING}::test_rules_are_pinned_when_the_run_opens",
                ),
            ),
            Invariant(
                "A broken rule of severity FAIL blocks.",
                tests=(
                    "tests/property/gate/test_decide.py::test_blocked_exactly_if_a_check_fails",
                ),
            ),
            Invariant(
                "A broken rule of severity WARN is listed and does not block.",
                tests=(
                    "tests/unit/gate/test_decide.py::test_nothing_wrong_is_allowed_and_warnings_do_not_block",
                ),
            ),
        ),
        key=("rule_id",),
        nullable=("column_name", "external_id"),
    ),
    "policy_rules_revisions": TableNote(
        Family.OURS,
        "Every revision of every policy.",
        (
            _numbered(
                "policy", "policy_rules_revisions", "test_sources_and_policies_are_revised_too"
            ),
        ),
    ),
    "policy_rules": TableNote(
        Family.METADATA_MODEL,
        "What the platform promises, whatever a pipeline wants; an empty layer is every layer.",
        (
            _latest("policy_rules_revisions"),
            Invariant(
                "What a policy can judge without data is judged before a byte is written.",
                tests=(f"{_OPENING}::test_a_tag_that_policy_forbids_is_refused_at_open",),
            ),
            Invariant(
                "BLOCK knows no exception: no option, variable or rollback gets past it.",
                tests=(
                    f"{_FIRST_HOUR}::test_no_option_lets_the_violating_batch_in",
                    f"{_FIRST_HOUR}::test_no_variable_lets_the_violating_batch_in",
                    f"{_OPENING}::test_a_rollback_is_judged_by_the_policies_of_today",
                ),
            ),
            Invariant(
                "ALERT is listed and lets the run go on.",
                tests=(f"{_OPENING}::test_an_alert_policy_lets_the_run_go_on",),
            ),
            Invariant(
                "A policy that cannot be judged blocks.",
                tests=(
                    "tests/unit/gate/test_decide.py::test_a_stored_policy_that_cannot_be_judged_blocks",
                ),
            ),
        ),
        key=("org_id", "policy_id"),
        nullable=("applies_to_domain", "applies_to_tag", "external_id"),
    ),
    "source_systems_revisions": TableNote(
        Family.OURS,
        "Every revision of every source's definition; secrets are in it by reference only.",
        (
            _numbered(
                "source", "source_systems_revisions", "test_sources_and_policies_are_revised_too"
            ),
            Invariant(
                "A source's name is held once in revisions of the same number.",
                constraints=("uq_source_systems_name",),
            ),
            Invariant(
                "No secret is written down.",
                tests=(
                    "tests/unit/registry/test_hostile.py::test_a_secret_is_refused_anywhere_and_shown_nowhere",
                ),
            ),
        ),
    ),
    "md_tgt_ctrl_revisions": TableNote(
        Family.OURS,
        "Every revision of every target's definition, with the sources that may write to it.",
        (
            _numbered("target", "md_tgt_ctrl_revisions"),
            Invariant(
                "A target's name is held once in revisions of the same number.",
                constraints=("uq_md_tgt_ctrl_name",),
            ),
        ),
    ),
    "md_jobs_revisions": TableNote(
        Family.OURS,
        "Every revision of every job's definition, with its details and its configuration.",
        (
            _numbered("job", "md_jobs_revisions"),
            Invariant(
                "A job's name is held once in revisions of the same number.",
                constraints=("uq_md_jobs_name",),
            ),
        ),
    ),
    "schema_compatibility_rules_revisions": TableNote(
        Family.OURS,
        "Every revision of every schema profile.",
        (_numbered("profile", "schema_compatibility_rules_revisions"),),
    ),
    "dq_rule_catalog_revisions": TableNote(
        Family.OURS,
        "Every revision of every rule that definitions may use by name.",
        (_numbered("rule", "dq_rule_catalog_revisions"),),
    ),
    "given_values": TableNote(
        Family.OURS,
        "What loaded rows gave in another form than ours, by definition: JSON lists of table, row"
        " within the definition, column, our value, given value. The latest revision counts.",
        (
            Invariant(
                "Other values of its rows are a new revision; each number is there once.",
                constraints=("pk_given_values",),
                tests=(f"{_GIVEN}::test_the_same_rows_again_are_no_revision",),
            ),
            Invariant(
                "Neither the time of a load nor what may be a secret is stored.",
                tests=(f"{_GIVEN}::test_neither_the_time_nor_a_secret_is_stored",),
            ),
        ),
    ),
}

CONTROL_NOTES: dict[str, TableNote] = {
    "md_jobs": TableNote(
        Family.CONTROL,
        "The jobs there are, whose they are and which dataset each of them builds.",
        (
            Invariant(
                "One row per key: the latest revision in `md_jobs_revisions`; and for each dataset"
                " a job of its own, as revision 0.",
                tests=(_VIEWS,),
            ),
        ),
        key=("job_id",),
        nullable=("dataset_name",),
    ),
    "md_jobs_det": TableNote(
        Family.CONTROL,
        "What a job's worker is given as parameters, name by name.",
        (_detail("job"), Invariant("A secret is a reference to it.", tests=_SECRETS)),
        key=("job_id", "detail_name"),
    ),
    "md_jobconfig": TableNote(
        Family.CONTROL,
        "What controls when and how a job is started, name by name.",
        (_detail("job"),),
        key=("job_id", "config_name"),
    ),
    "md_job_execution": TableNote(
        Family.CONTROL,
        "Every attempt of every task as an execution of its job: STARTED, COMPLETED or FAILED. A"
        " task that was refused or canceled while it waited is one more each time: the first before"
        " any attempt under its own id, each other with the number of its change.",
        (
            Invariant(
                "An attempt without a row in `run_history` or `task_results` is STARTED and has no"
                " end.",
                tests=(_VIEWS,),
            ),
            Invariant(
                "A blocked run is FAILED, and its error code says that it was blocked.",
                tests=(_VIEWS,),
            ),
            Invariant(
                "A launch that was refused, or canceled before it began, is FAILED and says why;"
                " what becomes of the task later stands beside it.",
                tests=(_VIEWS,),
            ),
            Invariant(
                "`job_id` is a job of `md_jobs`: a run without one belongs to its dataset's own,"
                " which has the dataset's id. A job that builds no dataset names none.",
                tests=(_VIEWS, f"{_SEEDS}::test_every_execution_is_of_a_job"),
            ),
            Invariant(
                "An execution that has ended never changes, and the ledger has it once.",
                tests=(
                    "tests/contract/scheduler/test_executions.py::test_the_ledger_has_each_execution_once",
                    "tests/contract/scheduler/test_job_history.py::test_what_came_before_is_not_overwritten",
                ),
            ),
        ),
        key=("execution_id",),
        nullable=("end_time", "error_code", "dataset_id", "config_hash"),
    ),
    "md_datasets": TableNote(
        Family.CONTROL,
        "Each dataset as a table with its domain, its layer and the target that it lies in.",
        (
            Invariant(
                "One row per dataset of `dataset_registry`; a table without a target lies in the"
                " target that is the lake itself.",
                tests=(_VIEWS, f"{_SEEDS}::test_every_dataset_lies_in_a_target"),
            ),
        ),
        key=("dataset_id",),
    ),
    "md_src_ctrl": TableNote(
        Family.CONTROL,
        "The sources there are, and whether they may be read.",
        (
            Invariant("One row per source of `source_systems`.", tests=(_VIEWS,)),
            Invariant(
                "A source that is not enabled is not read.",
                tests=(
                    "tests/contract/promotion/test_opening.py::test_a_disabled_source_is_refused_by_name",
                ),
            ),
        ),
        key=("source_id",),
    ),
    "md_src_det": TableNote(
        Family.CONTROL,
        "How a source is reached and read: format, path or url, options, details and secrets.",
        (
            _detail("source"),
            Invariant(
                "A detail named like the format, the place or an option gives way to it.",
                tests=(_VIEWS,),
            ),
            Invariant("A secret is a reference to it.", tests=_SECRETS),
        ),
        key=("source_id", "detail_name"),
    ),
    "md_tgt_ctrl": TableNote(
        Family.CONTROL,
        "The targets there are: where they lie, of which type, in which zone, active or not.",
        (
            Invariant(
                "One row per key: the latest revision in `md_tgt_ctrl_revisions`; and the lake"
                " itself, as revision 0.",
                tests=(_VIEWS,),
            ),
        ),
        key=("target_id",),
    ),
    "md_tgt_det": TableNote(
        Family.CONTROL,
        "How tables of a target are written: format, partitions, transform and further details.",
        (
            _detail("target"),
            Invariant("What a target does not say has no row.", tests=(_VIEWS,)),
        ),
        key=("target_id", "detail_name"),
    ),
    "md_src_tgt_ctrl": TableNote(
        Family.CONTROL,
        "Which source may write to which target, in what relationship.",
        (
            Invariant(
                "One row for each source that the target's latest revision names; one that is"
                " switched off stays, not enabled.",
                tests=(_VIEWS,),
            ),
        ),
        key=("source_id", "target_id"),
    ),
}
