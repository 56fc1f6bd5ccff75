"""The search index of datasets, derived from their definitions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, UniqueConstraint

from lakeguard.state.tables.metadata import Id, Long, Name, Word, metadata

dataset_search = Table(
    "dataset_search",
    metadata,
    Column(
        "number",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("dataset_name", Name, nullable=False),
    Column("layer", Word, nullable=False),
    Column("domain", Name, nullable=False),
    Column("owner", Name, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("description", Long, nullable=False),
    Column("tags", Long, nullable=False),
    Column("columns", Long, nullable=False),
    Column("name_words", Long, nullable=False),
    Column("words", Long, nullable=False),
    Column("filters", Long, nullable=False),
    UniqueConstraint("dataset_id", name="uq_dataset_search_dataset"),
    Index("ix_dataset_search_name", "org_id", "dataset_name"),
    sqlite_autoincrement=True,
)
