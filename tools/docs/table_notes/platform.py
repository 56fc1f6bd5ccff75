"""Notes on what may move now, organisations, column lineage, and the outbox."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_RELAY = "tests/contract/ledger/test_relay.py"
_REBUILD = "tests/contract/ledger/test_rebuild.py"
_PEOPLE = "tests/contract/client/test_users.py"
_VIEWS = "tests/contract/ledger/test_seed_views.py::test_every_view_tells_the_truth"
_PROMOTIONS = "tests/contract/ledger/test_seed_promotions.py"
_SEARCH = "tests/contract/client/test_search.py"
_APART = "tests/contract/client/test_organisations.py"

_DAMAGE = "tests/contract/promotion/test_damaged_tables.py"

PROMOTION_NOTES: dict[str, TableNote] = {
    "promotion_current": TableNote(
        Family.METADATA_MODEL,
        "Whether each dataset may move now: the last answer of `promotion_status`, unless something"
        " stands against it since.",
        (
            Invariant(
                "One row per key: the one with the highest ordinal; `state` is that of its"
                " decision.",
                tests=(_VIEWS,),
            ),
            Invariant(
                "`allowed` is false, and `reason` says why, while the dataset, its source, its"
                " target or their mapping is disabled, an SLA is late, or its table is damaged.",
                tests=(
                    f"{_DAMAGE}::test_damage_is_shown_until_it_is_gone",
                    f"{_PROMOTIONS}::test_promotion_says_no_while_something_is_disabled",
                    f"{_PROMOTIONS}::test_promotion_says_no_while_an_sla_is_late",
                ),
            ),
        ),
        key=("dataset_id", "from_layer", "to_layer"),
        nullable=("run_id", "decision_id"),
    ),
}

PLATFORM_NOTES: dict[str, TableNote] = {
    "table_findings": TableNote(
        Family.OURS,
        "What was found wrong with a governed table: damaged files, commits without a decision, an"
        " altered log; and that it is gone again.",
        (
            Invariant(
                "The last row of a dataset counts: FOUND until a rollback, an undo or a"
                " verification finds it GONE.",
                constraints=("table_findings_pkey", "ck_table_findings_state"),
                tests=(f"{_DAMAGE}::test_damage_is_shown_until_it_is_gone",),
            ),
            Invariant(
                "It is damage of files, a commit without a decision, or the log.",
                constraints=("ck_table_findings_problem",),
            ),
        ),
    ),
    "organizations": TableNote(
        Family.ORCHESTRATION,
        "Whose everything is: every row of every table names one of these.",
        (
            Invariant(
                "Every table has the organisation in each row.",
                constraints=("organizations_pkey",),
                tests=(
                    "tests/migration/test_schema.py::test_our_columns_name_the_organisation_everywhere",
                ),
            ),
            Invariant(
                "Organisations do not see each other.",
                tests=(
                    "tests/unit/registry/test_store.py::test_organisations_do_not_see_each_other",
                    f"{_APART}::test_no_method_of_a_port_reaches_another_organisation",
                ),
            ),
        ),
    ),
    "users": TableNote(
        Family.ORCHESTRATION,
        "Whoever acted, or signed in. `role` says how the user came to be there: `operator` by a"
        " command on the folder, `member` by a token of the issuer or by `user create`; what a user"
        " may do is in `role_grants`.",
        (
            Invariant(
                "A name is there once per organisation.",
                constraints=("users_pkey", "uq_users_name"),
                tests=(f"{_PEOPLE}::test_whoever_acts_is_a_user_from_then_on",),
            ),
        ),
    ),
    "request_keys": TableNote(
        Family.OURS,
        "Answers to requests with an Idempotency-Key, for 24 hours.",
        (
            Invariant(
                "A key of a caller stands for one request, which is carried out once.",
                constraints=("pk_request_keys",),
                tests=(
                    "tests/unit/http/test_request_keys.py::test_the_first_answer_is_given_again",
                    "tests/unit/http/test_request_keys.py::test_a_key_stands_for_one_request",
                ),
            ),
        ),
        not_in_lake="A key is only good for a repeated request, and expires.",
    ),
    "dag_versions": TableNote(
        Family.ORCHESTRATION,
        "The graph of datasets with their parents and of jobs with what they follow, under its"
        " hash.",
        (
            Invariant(
                "The same graph is the same version.",
                constraints=("dag_versions_pkey", "uq_dag_versions_content"),
                tests=(
                    "tests/contract/scheduler/test_deploy.py"
                    "::test_the_difference_is_shown_and_the_same_again_is_nothing",
                    "tests/property/scheduler/test_graph_hash.py::test_order_and_settings_do_not_matter",
                ),
            ),
        ),
    ),
    "column_lineage": TableNote(
        Family.ORCHESTRATION,
        "From which columns of which inputs a column of a version came; an empty name stands for"
        " columns that are not known, as with a build in Python."
        " What is made of no input has no row.",
        (Invariant("An arrow is there once per version.", constraints=("pk_column_lineage",)),),
    ),
    "outbox": TableNote(
        Family.OURS,
        "What was written and is not in the lake ledger yet; a delivered row leaves.",
        (
            Invariant(
                "A row and its outbox row are written together or not at all.",
                tests=(
                    "tests/migration/test_schema.py::test_a_fact_and_what_is_told_of_it_live_and_die_with_their_transaction",
                    f"{_RELAY}::test_what_is_rolled_back_is_not_told",
                ),
            ),
            Invariant(
                "Every outbox row reaches the ledger exactly once, whichever process dies.",
                constraints=("outbox_pkey",),
                tests=(
                    f"{_RELAY}::test_what_is_told_arrives_once",
                    "tests/faults/test_killed_relay.py::test_a_killed_relay",
                ),
            ),
        ),
        not_in_lake="It is the way to the ledger.",
    ),
    "audit_chain": TableNote(
        Family.OURS,
        "A hash over each delivered batch and the hash before it: delivered rows cannot be altered"
        " unnoticed.",
        (
            Invariant("A batch is chained once.", constraints=("pk_audit_chain",)),
            Invariant(
                "Rows that differ from the delivered ones are detected.",
                tests=(f"{_REBUILD}::test_a_damaged_ledger_is_not_believed",),
            ),
            Invariant(
                "A State with another story, or with less of it, is refused.",
                tests=(
                    f"{_RELAY}::test_a_state_with_another_story_is_refused",
                    f"{_RELAY}::test_a_state_that_forgot_is_refused",
                ),
            ),
        ),
    ),
    "relay_cursors": TableNote(
        Family.OURS,
        "How far each consumer of the outbox has come.",
        (
            Invariant(
                "A consumer has one place.",
                constraints=("pk_relay_cursors",),
            ),
            Invariant(
                "Whoever dies half way is continued, not repeated.",
                tests=(f"{_RELAY}::test_a_relay_that_dies_is_finished_by_the_next",),
            ),
        ),
        not_in_lake="It says how much of the State is there; the chain says the same.",
    ),
    "dataset_search": TableNote(
        Family.OURS,
        "What `lakeguard search` finds datasets by; full-text indexes are built over `words`, and"
        " `filters` has what is searched as a whole, folded.",
        (
            Invariant(
                "A dataset has one entry, written in the transaction that defines it.",
                constraints=("uq_dataset_search_dataset",),
                tests=(f"{_SEARCH}::test_a_search_follows_each_apply",),
            ),
            Invariant(
                "A rebuild writes the entries anew.",
                tests=(f"{_SEARCH}::test_a_rebuilt_database_finds_the_same",),
            ),
        ),
        not_in_lake="It follows from the definitions.",
    ),
    "plane_identity": TableNote(
        Family.OURS,
        "Which State this is, so that a lake has one owner.",
        (
            Invariant(
                "A State has one identity, and another State is refused by the lake.",
                constraints=("plane_identity_pkey",),
                tests=(
                    f"{_RELAY}::test_another_state_is_refused",
                    f"{_REBUILD}::test_the_state_before_owns_the_lake_no_more",
                ),
            ),
        ),
        not_in_lake="`plane.json`, beside the ledger, names the State that owns the lake.",
    ),
}
