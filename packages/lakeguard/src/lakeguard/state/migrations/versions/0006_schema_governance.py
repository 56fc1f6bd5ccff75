"""Why definitions were applied, and what profiles answer to classes of change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("registry_applies", sa.Column("reason", sa.Text()))
    op.add_column("schema_compatibility_rules_revisions", sa.Column("reactions", sa.Text()))
