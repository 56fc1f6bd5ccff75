"""Targets at the State's own database are refused, in every spelling of the address."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import make_url

from lakeguard.registry.validation.settings_checks import require_apart
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import StateDatabaseShared
from lakeguard_sdk.model.definitions import TargetDefinition

SERVER, HERE = "postgresql://lakeguard@db.example/governance", "postgresql://u@127.0.0.1/governance"


def target(url: str) -> TargetDefinition:
    return TargetDefinition(
        target="serving",
        location="zones/serving",
        zone="serving",
        format=TargetFormat.POSTGRESQL,
        url=url,
    )


@pytest.mark.parametrize(
    ("state", "url"),
    [
        (SERVER, "postgresql://db.example/governance"),
        (SERVER, "postgresql://db.example:5432/governance"),
        (SERVER, "postgresql://DB.example./governance?sslmode=require"),
        (HERE, "postgresql://localhost/governance"),
        (HERE, "postgresql://[::1]:5432/governance"),
        (HERE, "postgresql:///governance?host=/run/postgresql"),
        ("postgresql://u@:6000/gov?host=/run/postgresql", "postgresql://localhost:6000/gov"),
        ("postgresql://u@db.example/a%20b", "postgresql://db.example/a%20b"),
    ],
)
def test_one_database_is_refused_by_whichever_address(state: str, url: str) -> None:
    with pytest.raises(StateDatabaseShared, match="target serving"):
        require_apart([target(url)], make_url(state))


@pytest.mark.parametrize(
    ("state", "url"),
    [
        (SERVER, "postgresql://db.example/reports"),
        (SERVER, "postgresql://db.example:5433/governance"),
        (SERVER, "postgresql://other.example/governance"),
        (HERE, "postgresql://127.0.0.1:5433/governance"),
        ("sqlite:///state.db", "postgresql://localhost/governance"),
    ],
)
def test_another_database_is_taken(state: str, url: str) -> None:
    require_apart([target(url)], make_url(state))
