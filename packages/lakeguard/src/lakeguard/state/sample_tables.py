"""Samples: a few of the rows that a rule counted as failing."""

from __future__ import annotations

from sqlalchemy import Column, Table

from lakeguard.state.column_types import Id, Long, Name, UtcTime
from lakeguard.state.metadata import metadata

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
