"""Notes on ingestion: sources, files, profiles, and rows in quarantine."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_PROFILES = "tests/contract/insight/test_profiles.py"
_TOLD = ("tests/contract/ledger/test_seed_views.py::test_every_view_tells_the_truth",)
_SEEDS = "tests/contract/ledger/test_seed_tables.py"
_OPENING = "tests/contract/promotion/test_opening.py"
_QUARANTINE = "tests/contract/quarantine/test_quarantine.py"
_REPLAYS = "tests/contract/quarantine/test_quarantine_replays.py"
_MACHINE = "tests/property/quarantine/test_quarantine.py"

INGESTION_NOTES: dict[str, TableNote] = {
    "source_systems": TableNote(
        Family.INGESTION,
        "The systems that data comes from; credentials are named here, never held.",
        (
            Invariant(
                "One row per key: the latest revision in `source_systems_revisions`.", tests=_TOLD
            ),
            Invariant(
                "`secret_reference` says where the credentials are: the reference that was given"
                " as such, else those of its secrets.",
                tests=(f"{_SEEDS}::test_a_source_shows_its_credential_reference",),
            ),
        ),
        key=("source_system_id",),
        nullable=("secret_reference",),
    ),
    "source_objects": TableNote(
        Family.INGESTION,
        "Each dataset that reads a source: which object of it, and how a batch is loaded.",
        (
            Invariant(
                "One row per dataset that is built from a registered source; the object's id is"
                " the dataset's.",
                tests=_TOLD,
            ),
            Invariant("The keys are a JSON array, in their order.", tests=_TOLD),
            Invariant(
                "`dq_fail_behavior` is FAIL exactly if an active rule of the dataset can block.",
                tests=_TOLD,
            ),
        ),
        key=("source_object_id",),
        nullable=("watermark_column",),
    ),
    "source_object_columns": TableNote(
        Family.INGESTION,
        "The declared columns of each source object, with the rules that each is held to.",
        (
            Invariant(
                "`dq_rule_set` is a JSON array of rule texts in the order of the definition.",
                tests=(
                    "tests/contract/ledger/test_seed_views.py::test_a_rule_set_is_a_json_array_of_rule_texts",
                ),
            ),
            Invariant(
                "`is_nullable` is false only where an active rule lets no NULL in.", tests=_TOLD
            ),
            Invariant("`dq_severity` is the hardest of the column's active rules.", tests=_TOLD),
            Invariant(
                "`origin` is `drift` where a run found the column and its profile accepted it.",
                tests=(
                    "tests/contract/schema/test_schema_drift.py::test_an_addition_is_the_tables_until_a_person_declares_it",
                ),
            ),
        ),
        key=("source_object_id", "column_name"),
    ),
    "schema_compatibility_rules": TableNote(
        Family.INGESTION,
        "Profiles that say which differences of a schema are compatible.",
        (
            Invariant(
                "One row per key: the latest revision in `schema_compatibility_rules_revisions`.",
                tests=_TOLD,
            ),
            Invariant(
                "`reactions` is a JSON object of classes of change and the answers to them.",
                tests=_TOLD,
            ),
            Invariant(
                "Built-in profiles are rows, too.",
                tests=(f"{_SEEDS}::test_built_in_profiles_and_rules_are_rows",),
            ),
        ),
        key=("org_id", "profile_name"),
        nullable=("reactions",),
    ),
    "dq_rule_catalog": TableNote(
        Family.INGESTION,
        "Rules by name, for definitions to use.",
        (
            Invariant(
                "One row per key: the latest revision in `dq_rule_catalog_revisions`.", tests=_TOLD
            ),
            Invariant(
                "Built-in rules are rows, too.",
                tests=(f"{_SEEDS}::test_built_in_profiles_and_rules_are_rows",),
            ),
        ),
        key=("org_id", "rule_name"),
    ),
    "schema_history": TableNote(
        Family.INGESTION,
        "The schema that each run found at its source, whole.",
        (
            Invariant(
                "A run has at most one; it is judged before anything is staged.",
                constraints=("run_schemas_pkey",),
                tests=(f"{_OPENING}::test_the_live_schema_is_judged_before_staging",),
            ),
        ),
        key=("run_id",),
        nullable=("source_object_id",),
    ),
    "schema_change_log": TableNote(
        Family.INGESTION,
        "Each difference between the schema found and the one declared, and the answer to it.",
        (
            Invariant(
                "A difference that blocks is INCOMPATIBLE, every other COMPATIBLE.", tests=_TOLD
            ),
            Invariant(
                "Every class of difference has its answer under every profile.",
                tests=("tests/unit/gate/test_schema_profiles.py::test_each_cell_of_the_table",),
            ),
            Invariant(
                "A run that is refused has its schema and its differences here, too.",
                tests=(
                    "tests/contract/schema/test_schema_drift.py::test_a_refused_schema_is_kept",
                ),
            ),
        ),
        key=("run_id", "change_ordinal"),
        nullable=("source_object_id", "declared_type", "found_name", "found_type"),
    ),
    "data_quality_results": TableNote(
        Family.INGESTION,
        "What each rule came to in each decision, with the rows that failed it.",
        (
            Invariant(
                "Exactly the checks of rules that the decision recorded, in its order.", tests=_TOLD
            ),
            Invariant(
                "`source_object_id` is the object that the run read, and NULL if it read none; it"
                " is so in every table of runs.",
                tests=(f"{_SEEDS}::test_a_source_object_is_named_only_where_there_is_one",),
            ),
            Invariant(
                "Every rule is judged, whatever the first came to.",
                tests=(
                    "tests/unit/gate/test_decide.py::test_all_checks_are_made_in_order_whatever_the_first_came_to",
                ),
            ),
            Invariant(
                "A decision gives the same results whenever it is made again.",
                tests=(
                    "tests/contract/client/test_client.py::test_decisions_replay_byte_for_byte",
                ),
            ),
            Invariant(
                "Samples come after the decision, and no result changes by them.",
                tests=(
                    "tests/contract/privacy/test_samples.py::test_a_blocked_run_shows_failing_rows",
                ),
            ),
        ),
        key=("run_id", "check_ordinal"),
        nullable=(
            "source_object_id",
            "column_name",
            "failed_rows",
            "scope_rows",
            "observed_value",
            "allowed",
            "samples",
        ),
    ),
    "data_profiling_results": TableNote(
        Family.INGESTION,
        "One metric of one column of a published version, or a sketch of its values; the run is the"
        " one that made the version.",
        (
            Invariant(
                "A metric of a column is there once per profile.",
                constraints=("pk_data_profiling_results",),
            ),
            Invariant(
                "A profile is of a version that there is: it has its rows and its columns.",
                tests=(f"{_PROFILES}::test_what_is_no_profile_of_the_version_is_refused",),
            ),
            Invariant(
                "No value of a column that carries a tag, or may have it from what it is made of,"
                " or that a PII policy is about; nor a sketch of them.",
                tests=(f"{_PROFILES}::test_no_value_of_a_tagged_column_is_kept",),
            ),
        ),
    ),
    "run_audit": TableNote(
        Family.INGESTION,
        "Each ended run for the auditor: when, how it ended, what it wrote and why not.",
        (Invariant("One row per row of `run_history`.", tests=_TOLD),),
        key=("run_id",),
        nullable=("source_object_id", "rows_written", "error_code", "error_message", "version"),
    ),
}

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
                    f"{_QUARANTINE}::test_what_is_quarantined_waits_once_it_is_published",
                    f"{_QUARANTINE}::test_a_run_that_publishes_nothing_holds_nothing",
                ),
            ),
            Invariant(
                "There is no holding without a row.", constraints=("ck_quarantine_holdings_rows",)
            ),
            Invariant(
                "Whatever is published: read = published + waiting + discarded + malformed.",
                tests=(f"{_MACHINE}::test_every_row_is_published_waits_or_is_discarded",),
            ),
        ),
    ),
    "quarantine_replays": TableNote(
        Family.OURS,
        "Which holdings a replay replayed; it counts where the version of the replay led to what"
        " is published.",
        (
            Invariant(
                "A replay takes a holding once, and a holding that there is.",
                constraints=("pk_quarantine_replays", "fk_quarantine_replays_holding"),
                tests=(f"{_REPLAYS}::test_what_fails_again_waits_again",),
            ),
        ),
    ),
    "quarantine_discards": TableNote(
        Family.OURS,
        "Holdings that somebody gave up, and why.",
        (
            Invariant(
                "A holding is discarded once, as a whole.",
                constraints=(
                    "uq_quarantine_discards_holding",
                    "fk_quarantine_discards_holding",
                ),
                tests=(f"{_REPLAYS}::test_what_is_discarded_is_not_discarded_again",),
            ),
            Invariant(
                "Somebody says why.",
                constraints=("ck_quarantine_discards_reason",),
                tests=(f"{_REPLAYS}::test_nothing_is_discarded_without_a_reason",),
            ),
        ),
    ),
}
