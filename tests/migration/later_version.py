"""A version of the code after the baseline: one more migration, which adds a column."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from lakeguard.state import migrate

LATER = "0002"
_MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("documents", sa.Column("later", sa.Integer()))
"""


def install_later_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on ``Database.migrate`` brings a State to ``LATER``."""
    scripts = folder / "migrations"
    shutil.copytree(Path(migrate.__file__).parent / "migrations", scripts)
    (scripts / "versions" / "0002_later.py").write_text(_MIGRATION)
    directory = ScriptDirectory(str(scripts))
    monkeypatch.setattr("lakeguard.state.migrate.scripts", lambda: directory)
    for module in ("migrate", "database"):
        monkeypatch.setattr(f"lakeguard.state.{module}.SCHEMA_HEAD", LATER)
