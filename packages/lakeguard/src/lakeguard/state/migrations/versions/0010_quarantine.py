"""Rows that rules kept out of a table, and what became of them."""

from __future__ import annotations

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Nothing yet."""
