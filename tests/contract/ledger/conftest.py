"""A lake with a proven history, made once and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.state.database import Database
from tests.support.lakes.verified_lakes import ProvenLake, make_proven_lake


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    made = make_proven_lake(Database(f"sqlite:///{folder}/state.db"), folder)
    made.database.close()
    return folder


@pytest.fixture
def copied_lake(original: Path, tmp_path: Path) -> Iterator[ProvenLake]:
    folder = tmp_path / "lake"
    shutil.copytree(original, folder)
    database = Database(f"sqlite:///{folder}/state.db")
    yield ProvenLake(database, folder)
    database.close()
