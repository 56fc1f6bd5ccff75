"""The whole schema, as the tables define it. Changed in place until 0.1.0 is tagged.

From that release on its statements are frozen here, and every change is a migration of its own.
"""

from __future__ import annotations

from alembic import op

from lakeguard.state.migrate import create_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_tables(op.get_bind())
