"""Waivers: who answers for a check that does not pass, and until when."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table

from lakeguard.state.column_types import Id, Long, Name, UtcTime, Word
from lakeguard.state.metadata import metadata

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
