"""Revisions of definitions: append-only, the truth behind the seed's registry tables."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from lakeguard.state.column_types import Hash, Id, Long, Name, UtcTime, Word
from lakeguard.state.metadata import metadata

registry_applies = Table(
    "registry_applies",
    metadata,
    Column("apply_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("registry_head", Hash, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("plan_hash", Hash, nullable=False),
    Column("applied_at", UtcTime, nullable=False),
    Column("applied_by", Name, nullable=False),
    Column("reason", Long),
    UniqueConstraint("org_id", "ordinal", name="uq_registry_applies_ordinal"),
)

dataset_registry_revisions = Table(
    "dataset_registry_revisions",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("dataset_name", Name, nullable=False),
    Column("domain", Name, nullable=False),
    Column("layer", Word, nullable=False),
    Column("owner", Name, nullable=False),
    Column("description", Long, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("definition_hash", Hash, nullable=False),
    Column("definition", Long, nullable=False),
    Column("location", Name, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    PrimaryKeyConstraint("dataset_id", "revision", name="pk_dataset_registry_revisions"),
    UniqueConstraint("org_id", "dataset_name", "revision", name="uq_dataset_registry_name"),
)

quality_rules_revisions = Table(
    "quality_rules_revisions",
    metadata,
    Column("rule_id", Name, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("layer", Word, nullable=False),
    Column("rule_type", Word, nullable=False),
    Column("rule_expression", Long, nullable=False),
    Column("severity", Word, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("removed", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    Column("column_name", Name),
    PrimaryKeyConstraint("dataset_id", "rule_id", "revision", name="pk_quality_rules_revisions"),
)

policy_rules_revisions = Table(
    "policy_rules_revisions",
    metadata,
    Column("policy_id", Name, nullable=False),
    Column("applies_to_layer", Word, nullable=False),
    Column("policy_type", Word, nullable=False),
    Column("policy_expression", Long, nullable=False),
    Column("enforcement", Word, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    Column("applies_to_domain", Name),
    Column("applies_to_tag", Name),
    PrimaryKeyConstraint("org_id", "policy_id", "revision", name="pk_policy_rules_revisions"),
)

source_systems_revisions = Table(
    "source_systems_revisions",
    metadata,
    Column("source_system_id", Id, nullable=False),
    Column("source_name", Name, nullable=False),
    Column("source_type", Word, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("definition_hash", Hash, nullable=False),
    Column("definition", Long, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    PrimaryKeyConstraint("source_system_id", "revision", name="pk_source_systems_revisions"),
    UniqueConstraint("org_id", "source_name", "revision", name="uq_source_systems_name"),
)

md_tgt_ctrl_revisions = Table(
    "md_tgt_ctrl_revisions",
    metadata,
    Column("target_id", Id, nullable=False),
    Column("location", Name, nullable=False),
    Column("target_type", Word, nullable=False),
    Column("zone", Name, nullable=False),
    Column("status", Word, nullable=False),
    Column("target_name", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("definition_hash", Hash, nullable=False),
    Column("definition", Long, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    PrimaryKeyConstraint("target_id", "revision", name="pk_md_tgt_ctrl_revisions"),
    UniqueConstraint("org_id", "target_name", "revision", name="uq_md_tgt_ctrl_name"),
)

md_jobs_revisions = Table(
    "md_jobs_revisions",
    metadata,
    Column("job_id", Id, nullable=False),
    Column("job_name", Name, nullable=False),
    Column("description", Long, nullable=False),
    Column("owner", Name, nullable=False),
    Column("job_type", Name, nullable=False),
    Column("status", Word, nullable=False),
    Column("dataset_name", Name),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("definition_hash", Hash, nullable=False),
    Column("definition", Long, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    PrimaryKeyConstraint("job_id", "revision", name="pk_md_jobs_revisions"),
    UniqueConstraint("org_id", "job_name", "revision", name="uq_md_jobs_name"),
)

schema_compatibility_rules_revisions = Table(
    "schema_compatibility_rules_revisions",
    metadata,
    Column("profile_name", Name, nullable=False),
    Column("allow_column_drop", Boolean, nullable=False),
    Column("allow_type_widen", Boolean, nullable=False),
    Column("allow_type_narrow", Boolean, nullable=False),
    Column("allow_nullable_change", Boolean, nullable=False),
    Column("auto_add_columns", Boolean, nullable=False),
    Column("description", Long, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    Column("reactions", Long),
    PrimaryKeyConstraint(
        "org_id", "profile_name", "revision", name="pk_schema_compatibility_rules_revisions"
    ),
)

dq_rule_catalog_revisions = Table(
    "dq_rule_catalog_revisions",
    metadata,
    Column("rule_name", Name, nullable=False),
    Column("rule_expression", Long, nullable=False),
    Column("severity", Word, nullable=False),
    Column("description", Long, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("revised_at", UtcTime, nullable=False),
    Column("revised_by", Name, nullable=False),
    Column("apply_id", Id, ForeignKey("registry_applies.apply_id"), nullable=False),
    PrimaryKeyConstraint("org_id", "rule_name", "revision", name="pk_dq_rule_catalog_revisions"),
)
