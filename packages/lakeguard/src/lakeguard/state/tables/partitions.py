"""Tables of partition versions and invalidations."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    Table,
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

partition_versions = Table(
    "partition_versions",
    metadata,
    Column("dataset_id", Id, nullable=False),
    Column("partition_key", Name, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("run_id", Id, nullable=False),
    Column("materialized_at", UtcTime, nullable=False),
    Column("config_hash", Hash, nullable=False),
    Column("schema_hash", Hash, nullable=False),
    Column("location", Name, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    PrimaryKeyConstraint("dataset_id", "partition_key", "version", name="pk_partition_versions"),
    Index("ix_partition_versions_version", "dataset_id", "version"),
)

invalidations = Table(
    "invalidations",
    metadata,
    Column("invalidation_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("scope", Long, nullable=False),
    Column("reason", Word, nullable=False),
    Column("caused_by", Id),
    Column("created_at", UtcTime, nullable=False),
    Column("created_by", Name, nullable=False),
    Column("why", Long),
)

invalidation_progress = Table(
    "invalidation_progress",
    metadata,
    Column("invalidation_id", Id, ForeignKey("invalidations.invalidation_id"), nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("run_id", Id),
    Column("version", BigInteger),
    Column("at", UtcTime, nullable=False),
    PrimaryKeyConstraint("invalidation_id", "dataset_id", name="pk_invalidation_progress"),
    CheckConstraint(
        "outcome IN ('caught_up', 'not_affected')", name="ck_invalidation_progress_outcome"
    ),
)

invalidation_ends = Table(
    "invalidation_ends",
    metadata,
    Column("invalidation_id", Id, ForeignKey("invalidations.invalidation_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("ended_at", UtcTime, nullable=False),
    Column("actor", Name, nullable=False),
    Column("reason", Long),
    CheckConstraint("outcome IN ('done', 'withdrawn')", name="ck_invalidation_ends_outcome"),
)
