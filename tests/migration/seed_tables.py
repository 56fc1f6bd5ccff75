"""The tables as they were specified, transcribed: name, columns in order, types.

Our own columns stand behind these.
"""

Columns = tuple[tuple[str, str], ...]

METADATA_MODEL: dict[str, Columns] = {
    "dataset_registry": (
        ("dataset_id", "string"),
        ("dataset_name", "string"),
        ("domain", "string"),
        ("layer", "string"),
        ("owner", "string"),
        ("description", "string"),
        ("active", "boolean"),
        ("created_at", "timestamp"),
    ),
    "data_versions": (
        ("dataset_id", "string"),
        ("version", "long"),
        ("snapshot_ref", "string"),
        ("schema_hash", "string"),
        ("row_count", "long"),
        ("promoted_at", "timestamp"),
        ("promoted_by", "string"),
    ),
    "run_history": (
        ("run_id", "string"),
        ("dataset_id", "string"),
        ("layer", "string"),
        ("status", "string"),
        ("start_time", "timestamp"),
        ("end_time", "timestamp"),
        ("error_message", "string"),
        ("triggered_by", "string"),
    ),
    "quality_rules": (
        ("rule_id", "string"),
        ("dataset_id", "string"),
        ("layer", "string"),
        ("rule_type", "string"),
        ("rule_expression", "string"),
        ("severity", "string"),
        ("active", "boolean"),
    ),
    "policy_rules": (
        ("policy_id", "string"),
        ("applies_to_layer", "string"),
        ("policy_type", "string"),
        ("policy_expression", "string"),
        ("enforcement", "string"),
        ("active", "boolean"),
    ),
    "promotion_status": (
        ("dataset_id", "string"),
        ("from_layer", "string"),
        ("to_layer", "string"),
        ("allowed", "boolean"),
        ("evaluated_at", "timestamp"),
        ("reason", "string"),
    ),
}
"""What exists, in which state, and what happened."""

CONTROL_TABLES: dict[str, Columns] = {
    "md_jobs": (
        ("job_id", "string"),
        ("job_name", "string"),
        ("description", "string"),
        ("owner", "string"),
    ),
    "md_jobs_det": (
        ("job_id", "string"),
        ("detail_name", "string"),
        ("detail_value", "string"),
    ),
    "md_jobconfig": (
        ("job_id", "string"),
        ("config_name", "string"),
        ("config_value", "string"),
    ),
    "md_job_execution": (
        ("execution_id", "string"),
        ("job_id", "string"),
        ("start_time", "timestamp"),
        ("end_time", "timestamp"),
        ("status", "string"),
        ("error_code", "string"),
    ),
    "md_datasets": (
        ("dataset_id", "string"),
        ("database", "string"),
        ("schema", "string"),
        ("table_name", "string"),
        ("target_id", "string"),
        ("status", "string"),
    ),
    "md_src_ctrl": (
        ("source_id", "string"),
        ("source_name", "string"),
        ("enabled", "boolean"),
    ),
    "md_src_det": (
        ("source_id", "string"),
        ("detail_name", "string"),
        ("detail_value", "string"),
    ),
    "md_tgt_ctrl": (
        ("target_id", "string"),
        ("location", "string"),
        ("target_type", "string"),
        ("zone", "string"),
        ("status", "string"),
    ),
    "md_tgt_det": (
        ("target_id", "string"),
        ("detail_name", "string"),
        ("detail_value", "string"),
    ),
    "md_src_tgt_ctrl": (
        ("source_id", "string"),
        ("target_id", "string"),
        ("relationship_type", "string"),
        ("description", "string"),
        ("enabled", "boolean"),
    ),
}
"""Jobs, datasets, sources and targets."""

INGESTION_TABLES: dict[str, Columns] = {
    "source_systems": (
        ("source_system_id", "string"),
        ("source_name", "string"),
        ("source_type", "string"),
        ("active", "boolean"),
    ),
    "source_objects": (
        ("source_object_id", "string"),
        ("source_system_id", "string"),
        ("object_name", "string"),
        ("layer", "string"),
        ("load_type", "string"),
        ("hash_strategy", "string"),
        ("business_keys", "string"),
        ("watermark_column", "string"),
        ("schema_compat_profile", "string"),
        ("dq_fail_behavior", "string"),
        ("active", "boolean"),
    ),
    "source_object_columns": (
        ("source_object_id", "string"),
        ("column_name", "string"),
        ("ordinal_position", "long"),
        ("data_type", "string"),
        ("is_nullable", "boolean"),
        ("dq_rule_set", "string"),
        ("dq_severity", "string"),
        ("active", "boolean"),
    ),
    "schema_history": (
        ("run_id", "string"),
        ("source_object_id", "string"),
        ("schema_hash", "string"),
        ("schema_json", "string"),
        ("captured_at", "timestamp"),
    ),
    "schema_change_log": (
        ("run_id", "string"),
        ("source_object_id", "string"),
        ("change_ordinal", "long"),
        ("column_name", "string"),
        ("change_type", "string"),
        ("declared_type", "string"),
        ("found_type", "string"),
        ("compatibility", "string"),
        ("action_taken", "string"),
        ("detected_at", "timestamp"),
    ),
    "schema_compatibility_rules": (
        ("profile_name", "string"),
        ("allow_column_drop", "boolean"),
        ("allow_type_widen", "boolean"),
        ("allow_type_narrow", "boolean"),
        ("allow_nullable_change", "boolean"),
        ("auto_add_columns", "boolean"),
        ("description", "string"),
        ("active", "boolean"),
    ),
    "data_quality_results": (
        ("run_id", "string"),
        ("source_object_id", "string"),
        ("check_ordinal", "long"),
        ("rule_id", "string"),
        ("rule_expression", "string"),
        ("result", "string"),
        ("failed_rows", "long"),
        ("scope_rows", "long"),
        ("message", "string"),
        ("evaluated_at", "timestamp"),
    ),
    "data_profiling_results": (
        ("run_id", "string"),
        ("source_object_id", "string"),
        ("column_name", "string"),
        ("metric_name", "string"),
        ("metric_value", "string"),
        ("metric_params", "string"),
        ("sample_size", "long"),
        ("profiled_at", "timestamp"),
    ),
    "dq_rule_catalog": (
        ("rule_name", "string"),
        ("rule_expression", "string"),
        ("severity", "string"),
        ("description", "string"),
        ("active", "boolean"),
    ),
    "run_audit": (
        ("run_id", "string"),
        ("source_object_id", "string"),
        ("start_time", "timestamp"),
        ("end_time", "timestamp"),
        ("status", "string"),
        ("rows_written", "long"),
        ("error_code", "string"),
        ("error_message", "string"),
        ("triggered_by", "string"),
    ),
}
"""What is read from where, how, and what was found on the way."""

SEED_TABLES = {**METADATA_MODEL, **CONTROL_TABLES, **INGESTION_TABLES}
