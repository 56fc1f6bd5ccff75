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
