"""Tables of metadata records. They are no facts of the lake ledger: retention deletes them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    metadata,
    partial_index,
)

metadata_kinds = Table(
    "metadata_kinds",
    metadata,
    Column("kind", Name, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Long, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("registered_at", UtcTime, nullable=False),
    Column("registered_by", Name, nullable=False),
    PrimaryKeyConstraint("org_id", "kind", "version", name="pk_metadata_kinds"),
    CheckConstraint("version > 0", name="ck_metadata_kinds_version"),
)

metadata_records = Table(
    "metadata_records",
    metadata,
    Column("record_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("kind", Name, nullable=False),
    Column("source_id", Name, nullable=False),
    Column("schema_name", Name, nullable=False),
    Column("table_name", Name, nullable=False),
    Column("target_hash", Hash, nullable=False),
    Column("namespace", Name, nullable=False),
    Column("run_id", Name),
    Column("producer_id", Name, nullable=False),
    Column("produced_at", UtcTime, nullable=False),
    Column("body", Long, nullable=False),
    Column("body_hash", Hash, nullable=False),
    Column("is_newest", Boolean, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("stored_seq", BigInteger, nullable=False),
    Column("stored_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "record_id", "version", name="pk_metadata_records"),
    UniqueConstraint("org_id", "stored_seq", name="uq_metadata_records_seq"),
    CheckConstraint("version > 0", name="ck_metadata_records_version"),
    partial_index(
        "uq_metadata_records_newest",
        "org_id",
        "record_id",
        unique=True,
        where=text("is_newest"),
    ),
    Index(
        "ix_metadata_records_target",
        "org_id",
        "target_hash",
        "kind",
        "produced_at",
        "record_id",
        "version",
    ),
    Index("ix_metadata_records_kind", "org_id", "kind", "produced_at", "record_id", "version"),
)

record_positions = Table(
    "record_positions",
    metadata,
    Column("org_id", Id, primary_key=True),
    Column("log_id", Id, nullable=False),
    Column("position", BigInteger, nullable=False),
)
