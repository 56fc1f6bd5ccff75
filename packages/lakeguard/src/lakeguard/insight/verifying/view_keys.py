"""What names a row: the primary key of a table, and for views the columns that say it."""

from __future__ import annotations

from lakeguard.relay.catalogue import LedgerTable

_OF_VIEWS: dict[str, tuple[str, ...]] = {
    "dataset_registry": ("dataset_id",),
    "quality_rules": ("dataset_id", "rule_id"),
    "policy_rules": ("policy_id",),
    "source_systems": ("source_system_id",),
    "schema_compatibility_rules": ("profile_name",),
    "dq_rule_catalog": ("rule_name",),
    "md_jobs": ("job_id",),
    "md_jobs_det": ("job_id", "detail_name"),
    "md_jobconfig": ("job_id", "config_name"),
    "md_tgt_ctrl": ("target_id",),
    "md_tgt_det": ("target_id", "detail_name"),
    "md_src_ctrl": ("source_id",),
    "md_src_det": ("source_id", "detail_name"),
    "md_src_tgt_ctrl": ("source_id", "target_id"),
    "md_datasets": ("dataset_id",),
    "source_objects": ("source_object_id",),
    "source_object_columns": ("source_object_id", "column_name"),
    "md_job_execution": ("execution_id",),
    "run_audit": ("run_id",),
    "schema_history": ("run_id",),
    "schema_change_log": ("run_id", "change_ordinal"),
    "data_quality_results": ("run_id", "check_ordinal"),
}


def key_columns(table: LedgerTable) -> tuple[str, ...]:
    return tuple(column.name for column in table.source.primary_key) or _OF_VIEWS[table.name]
