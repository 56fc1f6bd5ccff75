"""Organisations, DAG versions, column lineage, profiles and request keys."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    Word,
    metadata,
)

organizations = Table(
    "organizations",
    metadata,
    Column("org_id", Id, primary_key=True),
    Column("org_name", Name, nullable=False),
    Column("created_at", UtcTime, nullable=False),
)

users = Table(
    "users",
    metadata,
    Column("user_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("user_name", Name, nullable=False),
    Column("role", Word, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    UniqueConstraint("org_id", "user_name", name="uq_users_name"),
)

dag_versions = Table(
    "dag_versions",
    metadata,
    Column("dag_version_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("content_hash", Hash, nullable=False),
    Column("body", Long, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    UniqueConstraint("org_id", "content_hash", name="uq_dag_versions_content"),
)

column_lineage = Table(
    "column_lineage",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("column_name", Name, nullable=False),
    Column("input_dataset_id", Id, nullable=False),
    Column("input_column", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    PrimaryKeyConstraint(
        "dataset_id",
        "version",
        "column_name",
        "input_dataset_id",
        "input_column",
        name="pk_column_lineage",
    ),
)

data_profiling_results = Table(
    "data_profiling_results",
    metadata,
    Column("run_id", Id, nullable=False),
    Column("source_object_id", Id),
    Column("column_name", Name, nullable=False),
    Column("metric_name", Word, nullable=False),
    Column("metric_value", Long),
    Column("metric_params", Long, nullable=False),
    Column("sample_size", BigInteger, nullable=False),
    Column("profiled_at", UtcTime, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("profile_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("dataset_id", Id, nullable=False),
    PrimaryKeyConstraint(
        "profile_id",
        "dataset_id",
        "column_name",
        "metric_name",
        name="pk_data_profiling_results",
    ),
    Index("ix_data_profiling_results_version", "dataset_id", "version"),
)

request_keys = Table(
    "request_keys",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("actor", Name, nullable=False),
    Column("request_key", Name, nullable=False),
    Column("request_hash", Hash, nullable=False),
    Column("status", Integer),
    Column("answer", Long),
    Column("content_type", Name),
    Column("created_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "actor", "request_key", name="pk_request_keys"),
    Index("ix_request_keys_created", "org_id", "created_at"),
)
