"""Tables of waivers, row samples and quarantined rows."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from lakeguard.state.tables.metadata import (
    Id,
    Long,
    Name,
    UtcTime,
    Word,
    metadata,
)

waivers = Table(
    "waivers",
    metadata,
    Column("waiver_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("check_kind", Word, nullable=False),
    Column("check_id", Name, nullable=False),
    Column("expression", Long, nullable=False),
    Column("approver", Name, nullable=False),
    Column("reason", Long, nullable=False),
    Column("granted_at", UtcTime, nullable=False),
    Column("granted_by", Name, nullable=False),
    Column("until", UtcTime, nullable=False),
    Column("covers", Id),
    CheckConstraint("check_kind IN ('rule', 'policy')", name="ck_waivers_kind"),
    CheckConstraint("approver <> '' AND reason <> ''", name="ck_waivers_answered_for"),
    Index("ix_waivers_dataset", "dataset_id", "until"),
)

waiver_revocations = Table(
    "waiver_revocations",
    metadata,
    Column("waiver_id", Id, ForeignKey("waivers.waiver_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("revoked_at", UtcTime, nullable=False),
    Column("revoked_by", Name, nullable=False),
    Column("reason", Long, nullable=False),
)


# Samples of failing rows.

rule_samples = Table(
    "rule_samples",
    metadata,
    Column("run_id", Id, primary_key=True),
    Column("rule_id", Name, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("sample_columns", Long, nullable=False),
    Column("sample_rows", Long, nullable=False),
    Column("masked_columns", Long, nullable=False),
    Column("taken_at", UtcTime, nullable=False),
)


# Quarantined rows: held, replayed, discarded.

quarantine_holdings = Table(
    "quarantine_holdings",
    metadata,
    Column("run_id", Id, nullable=False),
    Column("rule_id", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("expression", Long, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("first_seen", UtcTime, nullable=False),
    Column("quarantined_at", UtcTime, nullable=False),
    Column("files", Long, nullable=False),
    PrimaryKeyConstraint("run_id", "rule_id", name="pk_quarantine_holdings"),
    ForeignKeyConstraint(
        ["dataset_id", "version"],
        ["data_versions.dataset_id", "data_versions.version"],
        name="fk_quarantine_holdings_version",
    ),
    CheckConstraint("rows > 0", name="ck_quarantine_holdings_rows"),
    Index("ix_quarantine_holdings_dataset", "dataset_id", "version"),
)

quarantine_replays = Table(
    "quarantine_replays",
    metadata,
    Column("run_id", Id, nullable=False),
    Column("holding_run_id", Id, nullable=False),
    Column("rule_id", Name, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("version", BigInteger, nullable=False),
    PrimaryKeyConstraint("run_id", "holding_run_id", "rule_id", name="pk_quarantine_replays"),
    ForeignKeyConstraint(
        ["holding_run_id", "rule_id"],
        ["quarantine_holdings.run_id", "quarantine_holdings.rule_id"],
        name="fk_quarantine_replays_holding",
    ),
    Index("ix_quarantine_replays_dataset", "dataset_id", "version"),
)

quarantine_discards = Table(
    "quarantine_discards",
    metadata,
    Column("discard_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("run_id", Id, nullable=False),
    Column("rule_id", Name, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("reason", Long, nullable=False),
    Column("actor", Name, nullable=False),
    Column("discarded_at", UtcTime, nullable=False),
    UniqueConstraint("run_id", "rule_id", name="uq_quarantine_discards_holding"),
    ForeignKeyConstraint(
        ["run_id", "rule_id"],
        ["quarantine_holdings.run_id", "quarantine_holdings.rule_id"],
        name="fk_quarantine_discards_holding",
    ),
    CheckConstraint("reason <> ''", name="ck_quarantine_discards_reason"),
    Index("ix_quarantine_discards_dataset", "dataset_id"),
)
