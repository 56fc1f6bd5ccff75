"""The definition tables that can be loaded, with their columns."""

from __future__ import annotations

from collections.abc import Iterable

from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.text.problems import Findings
from lakeguard.state.schema import metadata
from lakeguard.state.views.view_metadata import view_metadata
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import NotLoadable, UnknownKey, UnknownReference

TABLES: dict[str, tuple[str, ...]] = {
    "dataset_registry": (
        "dataset_id", "dataset_name", "domain", "layer", "owner", "description", "active",
        "external_id", "renamed_from", "parents", "build_type", "sql_file", "sql_text",
        "python_file", "python_function", "python_sha256", "load_type", "hash_strategy",
        "business_keys", "watermark_column", "partition_by", "load_settings",
        "schema_compat_profile", "target_id", "columns", "details", "leave_out",
        "profile_every", "status",
    ),
    "quality_rules": (
        "rule_id", "dataset_id", "layer", "rule_type", "rule_expression", "severity", "active",
        "dataset_name", "column_name", "external_id",
    ),
    "policy_rules": (
        "policy_id", "applies_to_layer", "policy_type", "policy_expression", "enforcement",
        "active", "applies_to_domain", "applies_to_tag", "external_id",
    ),
    "md_jobs": (
        "job_id", "job_name", "description", "owner", "job_type", "status", "dataset_id",
        "dataset_name", "title", "external_id",
    ),
    "md_jobs_det": ("job_id", "detail_name", "detail_value"),
    "md_jobconfig": ("job_id", "config_name", "config_value"),
    "md_datasets": (
        "dataset_id", "database", "schema", "table_name", "target_id", "status", "dataset_name",
        "external_id",
    ),
    "md_src_ctrl": ("source_id", "source_name", "enabled", "description", "owner", "external_id"),
    "md_src_det": ("source_id", "detail_name", "detail_value"),
    "md_tgt_ctrl": (
        "target_id", "location", "target_type", "zone", "status", "target_name", "description",
        "external_id",
    ),
    "md_tgt_det": ("target_id", "detail_name", "detail_value"),
    "md_src_tgt_ctrl": ("source_id", "target_id", "relationship_type", "description", "enabled"),
    "source_systems": (
        "source_system_id", "source_name", "system_name", "source_type", "active", "secret_name",
        "secret_reference", "default_database", "business_owner", "technical_owner",
        "escalation_list", "owner", "description", "path", "external_id",
    ),
    "source_objects": (
        "source_object_id", "source_system_id", "object_name", "layer", "load_type",
        "hash_strategy", "business_keys", "watermark_column", "schema_compat_profile",
        "dq_enabled", "dq_fail_behavior", "active", "owner", "business_owner", "technical_owner",
        "domain", "description", "dataset_id", "dataset_name", "target_id", "profiling_enabled",
        "quarantine_path", "partition_by", "external_id",
    ),
    "source_object_columns": (
        "source_object_id", "column_name", "ordinal_position", "data_type", "is_nullable",
        "dq_rule_set", "dq_severity", "active", "clean_name", "tags", "description",
        "source_nullable", "origin", "widened_from", "derived_from", "reason", "clean",
    ),
    "schema_compatibility_rules": (
        "profile_name", "allow_column_drop", "allow_type_widen", "allow_type_narrow",
        "allow_nullable_change", "auto_add_columns", "description", "active", "reactions",
    ),
    "dq_rule_catalog": ("rule_name", "rule_expression", "severity", "description", "active"),
}  # fmt: skip
"""Columns by table: those of the seeds first, then ours."""

AUDIT_COLUMNS = (
    "created_at", "created_by", "created_on", "created_date", "updated_at", "updated_by",
    "updated_on", "updated_date",
)  # fmt: skip
"""Allowed in every table but ignored: the registry records time and author itself."""

_FACTS_ELSEWHERE = frozenset({"data_profiling_results", "metadata_kinds", "metadata_records"})


def accepted(rows: Iterable[Row], findings: Findings) -> list[Row]:
    """The rows of known tables and columns; unknown ones are reported once per file."""
    reported: set[tuple[str, str, str]] = set()
    taken: list[Row] = []
    for row in rows:
        columns = TABLES.get(row.table)
        if columns is None:
            if (row.source.file, row.table, "") not in reported:
                findings.add(_refused_table(row))
            reported.add((row.source.file, row.table, ""))
            continue
        for name in row.values:
            key = (row.source.file, row.table, name)
            if name not in columns and name not in AUDIT_COLUMNS and key not in reported:
                hint = did_you_mean(name, columns)
                findings.add(UnknownKey(row.place_of_name(name), key=shown(name), hint=hint))
                reported.add(key)
        taken.append(row)
    return taken


def is_fact(table: str) -> bool:
    """Whether the table holds recorded facts, which cannot be loaded."""
    facts = {*metadata.tables, *view_metadata.tables, *_FACTS_ELSEWHERE} - set(TABLES)
    return table in {name.rpartition(".")[2] for name in facts}


def _refused_table(row: Row) -> NotLoadable | UnknownReference:
    if is_fact(row.table):
        return NotLoadable(row.place, table=row.table)
    hint = did_you_mean(row.table, TABLES)
    return UnknownReference(row.place, kind="table", name=shown(row.table), hint=hint)
