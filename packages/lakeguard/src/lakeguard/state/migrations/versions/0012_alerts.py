"""Alerts, and who was told."""

from __future__ import annotations

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Nothing yet."""
