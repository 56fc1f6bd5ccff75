"""Tables of the relay: outbox, audit chain and the State's identity."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
)

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    UtcTime,
    Word,
    metadata,
)

outbox = Table(
    "outbox",
    metadata,
    Column(
        "outbox_id",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("org_id", Id, nullable=False),
    Column("topic", Word, nullable=False),
    Column("payload", Long, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("batch", BigInteger),
    Index("ix_outbox_batch", "batch"),
    sqlite_autoincrement=True,
)

audit_chain = Table(
    "audit_chain",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("batch", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("tables", Long, nullable=False),
    Column("previous", Hash, nullable=False),
    Column("head", Hash, nullable=False),
    Column("stamped_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "batch", name="pk_audit_chain"),
)

relay_cursors = Table(
    "relay_cursors",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("consumer", Word, nullable=False),
    Column("batch", BigInteger, nullable=False),
    PrimaryKeyConstraint("org_id", "consumer", name="pk_relay_cursors"),
)

plane_identity = Table(
    "plane_identity",
    metadata,
    Column("org_id", Id, primary_key=True),
    Column("state_id", Id, nullable=False),
    Column("created_at", UtcTime, nullable=False),
)
