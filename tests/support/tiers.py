"""What ``make test`` runs, what waits for ``make soak``, and which tests share a worker.

Whatever ``make test`` leaves out, ``make soak`` runs, and what takes long to repeat, the target
``exhaustive``: the three together are every test. Generated examples run in all of them, few
first (``tests/support/examples.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_TESTS = Path(__file__).parents[1]

BOTH_DATABASES = frozenset(
    {
        "contract/ledger/test_relay.py",
        "contract/ledger/test_seed_views.py",
        "contract/ledger/test_verify_tasks.py",
        "contract/promotion/test_governed_tables.py",
        "contract/records/test_sql_repository.py",
        "contract/scheduler/test_executions.py",
        "contract/scheduler/test_file_triggers.py",
        "contract/scheduler/test_launch.py",
        "contract/scheduler/test_leases.py",
        "contract/scheduler/test_queue.py",
        "contract/scheduler/test_reports.py",
        "contract/scheduler/test_schedules.py",
        "contract/scheduler/test_task_indexes.py",
        "contract/scheduler/test_triggers.py",
        "contract/state/test_bulk_rows.py",
        "contract/state/test_state_locks.py",
    }
)
"""Where SQL differs: ``make test`` runs these on SQLite and on PostgreSQL. The others run on
SQLite there, and on PostgreSQL in ``make soak``."""
_TWO_DATABASES = ("contract/", "faults/")

OF_THE_LAKE = frozenset(
    {
        "contract/ledger/test_verify_lake.py",
        "contract/privacy/test_batch_lineage.py",
        "contract/privacy/test_drifting_tags.py",
        "contract/privacy/test_earlier_rows.py",
        "contract/privacy/test_files_past_the_gate.py",
        "contract/privacy/test_load_columns.py",
        "contract/privacy/test_restored_tags.py",
        "contract/privacy/test_tag_propagation.py",
        "contract/promotion/test_adopt_copies.py",
        "contract/promotion/test_adopt_tables.py",
        "contract/promotion/test_adoption.py",
        "contract/promotion/test_altered_logs.py",
        "contract/promotion/test_column_lineage.py",
        "contract/promotion/test_compaction.py",
        "contract/promotion/test_compaction_of_partitions.py",
        "contract/promotion/test_damaged_logs.py",
        "contract/promotion/test_damaged_tables.py",
        "contract/promotion/test_partitioned_moves.py",
        "contract/promotion/test_rejected_commits.py",
        "contract/promotion/test_repaired_logs.py",
        "contract/promotion/test_replaced_partitions.py",
        "contract/quarantine/test_quarantine_tables.py",
    }
)
"""About files and lineage rather than the State: on PostgreSQL in ``exhaustive`` alone."""

AS_SERVICE = frozenset(
    {
        "contract/client/test_client.py",
        "contract/client/test_organisations.py",
        "contract/client/test_search.py",
        "contract/http/test_routes_of_others.py",
        "contract/insight/test_backtest.py",
        "contract/insight/test_trends.py",
        "contract/ledger/test_history.py",
        "contract/ledger/test_relay.py",
        "contract/ledger/test_run_facts.py",
        "contract/ledger/test_verify_state.py",
        "contract/notifications/test_alerts.py",
        "contract/promotion/test_claimed_builds.py",
        "contract/promotion/test_maintenance.py",
        "contract/promotion/test_opening.py",
        "contract/promotion/test_promotion_states.py",
        "contract/quarantine/test_quarantine.py",
        "contract/records/test_kinds.py",
        "contract/records/test_sql_repository.py",
        "contract/scheduler/test_deploy.py",
        "contract/scheduler/test_executions.py",
        "contract/scheduler/test_invalidations.py",
        "contract/scheduler/test_launch.py",
        "contract/scheduler/test_leases.py",
        "contract/scheduler/test_queue.py",
        "contract/scheduler/test_reports.py",
        "contract/scheduler/test_triggers.py",
        "contract/schema/test_schema_approval.py",
    }
)
"""Suites that ``make soak`` runs as a service role too: it needs every right that it has."""

SMOKE = {
    "test_casts.py": (),
    "test_compaction.py": ("test_spark_reads_the_same_rows",),
    "test_csv.py": ("test_what_stands_in_the_files_is_what_is_read",),
    "test_every_policy.py": ("test_what_keeps_every_policy_is_published",),
    "test_every_rule.py": (),
    "test_frame_lineage.py": (
        "test_columns_are_followed_exactly",
        "test_what_the_plan_does_not_show_is_unknown",
        "test_a_frame_that_was_read_and_renamed_does_not_reach_gold",
        "test_a_python_build_passes_tags_on",
    ),
    "test_loads_hashes.py": ("test_the_type_of_a_value_counts",),
    "test_loads_histories.py": (),
    "test_no_bypass.py": (
        "test_every_option_is_set_below",
        "test_every_setting_is_set_below",
        "test_every_variable_that_is_read_is_set_below",
        "test_no_parameter_lets_it_through",
        "test_a_blocked_task_is_not_run_again",
    ),
    "test_notebook.py": ("test_a_frame_becomes_a_dataset_and_versions_stay_readable",),
    "test_publish.py": ("test_every_type_comes_back_as_it_went_in",),
    "test_python_build.py": ("test_a_function_reads_pinned_inputs_and_the_batch_knows_them",),
    "test_quarantine.py": ("test_the_rest_is_published_and_what_failed_is_kept",),
    "test_references.py": (),
    "test_schema_changes.py": ("test_permissive_takes_in_what_it_can_and_quarantines_the_rest",),
    "test_sources_delta.py": ("test_new_files_are_read_once",),
    "test_sources_jdbc.py": ("test_every_type_is_read_exactly",),
    "test_sources_text.py": ("test_json_lines_keep_the_very_text_of_their_values",),
    "test_sources_end_to_end.py": (),
    "test_sql_build.py": ("test_exactly_the_pinned_version_is_read",),
    "test_targets_end_to_end.py": (
        "test_rows_of_the_target_change_the_next_run",
        "test_a_live_table_follows_what_the_gate_allowed",
    ),
    "test_stream.py": ("test_every_micro_batch_is_a_version_and_is_published_once",),
    "test_testing_assertions.py": (),
    "test_typed_json_lines.py": (),
    "test_typed_texts.py": (),
    "test_transform.py": ("test_a_changed_transform_changes_the_next_run_and_its_build",),
    "test_end_to_end.py": (),
    "test_worker.py": (
        "test_appends_build_on_each_other_and_full_loads_replace",
        "test_a_blocked_run_leaves_the_table_as_it_is",
        "test_a_run_that_cannot_finish_says_so_in_one_line",
        "test_a_run_that_lost_its_lease_stops_before_it_commits",
    ),
}
"""The tests on real Spark of ``make test``: files of ``tests/spark``, whole or some tests of them.
Every rule, load, source and target is in one of them at least."""

LONG = frozenset(
    {
        "contract/ledger/test_verify_lake.py",
        "contract/ledger/test_verify_queue.py",
        "docs/test_suggestions_page.py",
        "docs/test_testing_page.py",
        "faults/test_dispatch_outages.py",
        "faults/test_eight_writers.py",
        "faults/test_killed_adoption.py",
        "faults/test_killed_apply.py",
        "faults/test_killed_quarantine.py",
        "faults/test_killed_rebuild.py",
        "faults/test_killed_relay.py",
        "faults/test_missed_deliveries.py",
        "faults/test_racing.py",
        "faults/test_slow_receivers.py",
        "postgres/test_dispatch_bench.py",
        "postgres/test_service_bench.py",
        "process/test_testing_plugin.py",
        "property/measure/test_spark_expressions.py",
        "property/measure/test_spark_groups.py",
        "property/measure/test_spark_macros.py",
    }
)
"""Whole files of ``make soak`` alone: what they protect has a shorter test in ``make test``."""
LONG_TESTS = frozenset(
    {
        "test_a_killed_compaction",
        "test_a_killed_maintenance",
        "test_a_killed_reaper",
        "test_a_worker_killed_at_every_step",
        "test_rows_that_break_all_rules_are_blocked_by_each[spark]",
    }
)
"""Single ones, of files whose other tests ``make test`` runs."""

SERVED = frozenset(
    {
        "test_a_waiver_names_its_failure_and_ends_with_it",
        "test_addresses_resolve_to_exact_commits",
        "test_an_attempt_that_is_over_is_fenced",
        "test_decisions_replay_byte_for_byte",
        "test_rows_are_given_back",
        "test_the_same_completion_again_has_the_same_bytes",
        "test_what_is_not_registered_does_not_exist",
        "test_what_was_applied_can_be_asked_for",
    }
)
"""Tests of the suites in ``tests/service`` that ``make test`` runs, too; there it runs all of them
without a service."""

_FIRST_SPARK = ("spark/gate/", "spark/runtime/", "property/")
"""Files of the first of two workers with a JVM; the other one has about as much to do."""

_ORDER = ("e2e", "soak", "faults", "process", "postgres", "property", "migration", "workspace",
          "service", "contract", "cli", "docs", "unit")  # fmt: skip
"""Long tests start first, so that both workers end at about the same time."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    several = config.pluginmanager.hasplugin("xdist")
    items[:] = [item for item in items if not _is_for_others(item)]
    for item in items:
        path = _path(item)
        if path.startswith("cloud/"):
            item.add_marker(pytest.mark.cloud)
        elif _repeats(item, path):
            item.add_marker(pytest.mark.exhaustive)
        elif _waits(item, path):
            item.add_marker(pytest.mark.soak)
        if path.startswith("property/") or _is_generated(item):
            item.add_marker(pytest.mark.examples)
        if several:
            item.add_marker(pytest.mark.xdist_group(_group(item, path)))
    items.sort(key=_rank)


def _is_for_others(item: pytest.Item) -> bool:
    """A contract as a service role, of a file that is none of ``AS_SERVICE``."""
    path = _path(item)
    of_contracts = path.startswith("contract/") and path not in AS_SERVICE
    return of_contracts and "service" in _parameters(item)


def _repeats(item: pytest.Item, path: str) -> bool:
    return path in OF_THE_LAKE and "postgresql" in _parameters(item)


def _waits(item: pytest.Item, path: str) -> bool:
    if path in AS_SERVICE and "service" in _parameters(item):
        return True
    if path in LONG or path.startswith("e2e/") or {_function(item), item.name} & LONG_TESTS:
        return True
    if path.startswith("spark/"):
        return not _is_smoke(item)
    if path.startswith("service/suites/"):
        return _function(item) not in SERVED
    if path.startswith(_TWO_DATABASES) and path not in BOTH_DATABASES:
        return "postgresql" in _parameters(item)
    return False


def _is_smoke(item: pytest.Item) -> bool:
    chosen = SMOKE.get(item.path.name)
    return chosen == () or (chosen is not None and _function(item) in chosen)


def _needs_spark(item: pytest.Item, path: str) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return path.startswith("spark/") or "spark" in fixtures


def _group(item: pytest.Item, path: str) -> str:
    """A JVM for each worker, not more; a file stays together, as do its fixtures."""
    if path.startswith("e2e/"):
        return "e2e"
    if _needs_spark(item, path):
        return "spark" if path.startswith(_FIRST_SPARK) else "more spark"
    return path


def _is_generated(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def _parameters(item: pytest.Item) -> list[Any]:
    called = getattr(item, "callspec", None)
    return [] if called is None else [each for each in called.params.values() if _is_text(each)]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _function(item: pytest.Item) -> str:
    return getattr(item, "originalname", item.name)


def _rank(item: pytest.Item) -> int:
    path = _path(item)
    if _needs_spark(item, path):
        return -1
    suite = path.partition("/")[0]
    return _ORDER.index(suite) if suite in _ORDER else len(_ORDER)


def _path(item: pytest.Item) -> str:
    """Below ``tests``; a test of another folder keeps its whole path."""
    path = item.path
    return (path.relative_to(_TESTS) if path.is_relative_to(_TESTS) else path).as_posix()
