"""Results of profiling say of which version they are, and a version may be profiled again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0011"
down_revision = "0010"

_TABLE = "data_profiling_results"
_BEFORE = f"{_TABLE}_before"
_COLUMNS = (
    "run_id, source_object_id, column_name, metric_name, metric_value, metric_params, sample_size,"
    " profiled_at, org_id"
)


def upgrade() -> None:
    """The key is another, so that the table is made anew; a row of before is its run's profile.

    Rows wait in a copy: SQLite renames no table while a view is out of date, and PostgreSQL keeps
    the names of what belongs to one.
    """
    op.execute(f"CREATE TABLE {_BEFORE} AS SELECT {_COLUMNS} FROM {_TABLE}")  # noqa: S608
    op.drop_table(_TABLE)
    op.create_table(
        _TABLE,
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("source_object_id", sa.String(length=64), nullable=False),
        sa.Column("column_name", sa.String(length=300), nullable=False),
        sa.Column("metric_name", sa.String(length=40), nullable=False),
        sa.Column("metric_value", sa.Text(), nullable=True),
        sa.Column("metric_params", sa.Text(), nullable=False),
        sa.Column("sample_size", sa.BigInteger(), nullable=False),
        sa.Column("profiled_at", UtcTime(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("profile_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "profile_id", "source_object_id", "column_name", "metric_name", name=f"pk_{_TABLE}"
        ),
    )
    op.execute(
        f"INSERT INTO {_TABLE} ({_COLUMNS}, profile_id, version)"  # noqa: S608 - names of ours
        f" SELECT {_COLUMNS}, run_id, 0 FROM {_BEFORE}"
    )
    op.drop_table(_BEFORE)
    op.create_index(f"ix_{_TABLE}_version", _TABLE, ["source_object_id", "version"])
    forbid_changes({_TABLE: ""})
