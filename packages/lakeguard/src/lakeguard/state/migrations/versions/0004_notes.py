"""What a build itself had to say, beside the version that it brought forth."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("materializations", sa.Column("notes", sa.Text()))
