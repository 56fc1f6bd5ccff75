"""Repositories of metadata records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from lakeguard.records.sql_repository import SqlRepository
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.records.repository import MetadataRepository
from tests.support.cases.records import volume

Made = Callable[..., MetadataRecord]
_numbers = count(1)


@pytest.fixture
def tenant() -> str:
    return f"org_{next(_numbers)}"


@pytest.fixture
def repository(state: Database, tenant: str) -> MetadataRepository:
    return SqlRepository(OrganisationState.of(state, tenant, actor="tester"))


@pytest.fixture
def beside(state: Database, tenant: str) -> MetadataRepository:
    """The same records, as another process has them."""
    return SqlRepository(OrganisationState.of(state, tenant, actor="tester"))


@pytest.fixture
def elsewhere(state: Database) -> MetadataRepository:
    """Other records."""
    return SqlRepository(OrganisationState.of(state, f"org_{next(_numbers)}", actor="tester"))


@pytest.fixture
def made(tenant: str) -> Callable[..., MetadataRecord]:
    return lambda *given, **more: volume(*given, tenant=tenant, **more)
