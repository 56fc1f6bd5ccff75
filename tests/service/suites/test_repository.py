"""The repository of metadata records, over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.records.repository import MetadataRepository
from tests.contract.records.conftest import made as made
from tests.contract.records.test_kinds import *  # noqa: F403
from tests.contract.records.test_repository import *  # noqa: F403
from tests.support.projects.projects import numbers_project


@pytest.fixture
def tenant() -> str:
    return "default"


@pytest.fixture
def repository(tmp_path: Path) -> MetadataRepository:
    return numbers_project(tmp_path / "here").records


@pytest.fixture
def beside(repository: MetadataRepository) -> MetadataRepository:
    return repository


@pytest.fixture
def elsewhere(tmp_path: Path) -> MetadataRepository:
    return numbers_project(tmp_path / "elsewhere").records
