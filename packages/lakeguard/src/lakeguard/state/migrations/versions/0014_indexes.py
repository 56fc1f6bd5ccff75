"""Indexes for a State with a long history: tasks of a state by age, open tasks of a graph."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.drop_index("ix_tasks_state", "tasks")
    op.create_index("ix_tasks_state", "tasks", ["org_id", "state", "created_at", "task_id"])
    not_over = sa.text(
        "(state IN ('queued', 'running') OR (state = 'failed' AND due_at IS NOT NULL))"
    )
    op.create_index(
        "ix_tasks_graph",
        "tasks",
        ["org_id", "dag_version_id"],
        sqlite_where=not_over,
        postgresql_where=not_over,
    )
