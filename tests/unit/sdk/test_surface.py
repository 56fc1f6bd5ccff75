"""The public surface, pinned: a change here is a decision."""

from __future__ import annotations

import inspect

import lakeguard_sdk
from lakeguard_sdk import ports


def test_what_the_package_exports() -> None:
    assert sorted(lakeguard_sdk.__all__) == [
        "Address",
        "Client",
        "DatasetName",
        "LakeGuardError",
        "MetadataContext",
        "MetadataEnvironment",
        "MetadataQuery",
        "MetadataRecord",
        "MetadataTarget",
        "WorkerClient",
        "connect",
        "parse_address",
    ]


def test_what_the_ports_offer() -> None:
    offered = {
        name: sorted(method for method in vars(port) if not method.startswith("_"))
        for name, port in vars(ports).items()
        if inspect.isclass(port) and port.__module__ == ports.__name__
    }
    assert offered == {
        "Ledger": ["data_places", "judge_markers", "sync", "undelivered", "verify"],
        "History": ["backtest", "rebuild_plan", "remeasure_plan", "replay_all", "side_by_side"],
        "Reader": [
            "changed",
            "column_lineage",
            "dataset",
            "datasets",
            "decision",
            "definition",
            "execution",
            "executions",
            "facts",
            "file_records",
            "invalidation",
            "invalidations",
            "open_runs",
            "partitions",
            "pointer_moves",
            "policies",
            "profiles",
            "published_files",
            "quarantine",
            "quarantine_balance",
            "quarantined_rows",
            "replay",
            "resolve",
            "rules",
            "run",
            "run_events",
            "runs",
            "samples",
            "schema_diff",
            "schemas",
            "search",
            "since",
            "source_file_page",
            "source_files",
            "status",
            "trends",
            "versions",
            "waivers",
        ],
        "Runs": [
            "begin_move",
            "complete_move",
            "due_compaction",
            "due_profile",
            "fail_run",
            "finish_unchanged",
            "heartbeat",
            "open_adoption",
            "open_claimed",
            "open_compaction",
            "open_run",
            "submit_adoption",
            "submit_compaction",
            "submit_evidence",
            "submit_profile",
            "submit_samples",
            "submit_schema",
            "task_token",
        ],
        "Registry": ["apply", "dataset_ids", "definitions", "given_values", "plan"],
        "Operations": [
            "discard",
            "examine",
            "invalidate",
            "maintain",
            "plan_profile",
            "reap",
            "reconcile",
            "record_damage",
            "record_profile",
            "record_stream",
            "requeue",
            "resume",
            "revoke_waiver",
            "rollback",
            "submit",
            "submit_adoption",
            "submit_compaction",
            "submit_replay",
            "undo",
            "waive",
            "withdraw_invalidation",
        ],
    }
