"""Users and organisations with their status, grants, service tokens, and the access log."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from lakeguard.state.tables.metadata import Hash, Id, Long, Name, UtcTime, Word, metadata

identity_states = Table(
    "identity_states",
    metadata,
    Column("change_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("subject_kind", Word, nullable=False),
    Column("subject_id", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("reason", Long, nullable=False),
    Column("changed_by", Name, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    CheckConstraint(
        "subject_kind IN ('user', 'organisation', 'token')", name="ck_identity_states_kind"
    ),
    UniqueConstraint("org_id", "subject_id", "number", name="uq_identity_states_number"),
)

role_grants = Table(
    "role_grants",
    metadata,
    Column("grant_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("role", Word, nullable=False),
    Column("namespace_kind", Word, nullable=False),
    Column("namespace", Name, nullable=False),
    Column("reason", Long, nullable=False),
    Column("granted_by", Name, nullable=False),
    Column("granted_at", UtcTime, nullable=False),
    CheckConstraint(
        "role IN ('viewer', 'engineer', 'steward', 'admin', 'pii')", name="ck_role_grants_role"
    ),
    CheckConstraint(
        "namespace_kind IN ('organisation', 'domain', 'layer', 'dataset', 'records')",
        name="ck_role_grants_namespace",
    ),
    Index("ix_role_grants_user", "org_id", "user_id"),
)

service_tokens = Table(
    "service_tokens",
    metadata,
    Column("token_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("token_name", Name, nullable=False),
    Column("actions", Long, nullable=False),
    Column("namespaces", Long, nullable=False),
    Column("pii", Boolean, nullable=False),
    Column("created_by", Name, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    UniqueConstraint("org_id", "token_name", name="uq_service_tokens_name"),
)

service_token_secrets = Table(
    "service_token_secrets",
    metadata,
    Column("secret_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("token_id", Id, ForeignKey("service_tokens.token_id"), nullable=False),
    Column("keyed_hash", Hash, nullable=False),
    Column("created_by", Name, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("ends_at", UtcTime),
    Column("last_used_at", UtcTime),
    Index("ix_service_token_secrets_token", "org_id", "token_id"),
)

access_revocations = Table(
    "access_revocations",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("revoked_id", Id, nullable=False),
    Column("kind", Word, nullable=False),
    Column("reason", Long, nullable=False),
    Column("revoked_by", Name, nullable=False),
    Column("revoked_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "revoked_id", name="pk_access_revocations"),
    CheckConstraint("kind IN ('grant', 'token')", name="ck_access_revocations_kind"),
)

access_log = Table(
    "access_log",
    metadata,
    Column("access_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("accessed_at", UtcTime, nullable=False),
    Column("principal_kind", Word, nullable=False),
    Column("principal_id", Id, nullable=False),
    Column("principal", Name, nullable=False),
    Column("action", Word, nullable=False),
    Column("method", Name, nullable=False),
    Column("dataset", Name),
    Column("allowed", Boolean, nullable=False),
    Column("reason", Long),
    CheckConstraint("principal_kind IN ('user', 'token', 'task')", name="ck_access_log_principal"),
    CheckConstraint("allowed OR reason IS NOT NULL", name="ck_access_log_reason"),
    Index("ix_access_log_time", "org_id", "accessed_at"),
    Index("ix_access_log_dataset", "org_id", "dataset", "accessed_at"),
)
