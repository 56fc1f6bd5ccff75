"""What rows gave is stored in the transaction of their load, on each kind of State."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.given_values.restore_rows import restored_rows
from lakeguard_sdk import Client
from lakeguard_sdk.errors import RegistryChanged
from lakeguard_sdk.model.given_values import GivenRow
from tests.support.projects.loaded_rows import OBJECT, ROWS, SILVER, load, rows_project

pytestmark = pytest.mark.usefixtures("each_state")

SYSTEM = ("source", "number_feed")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return rows_project(tmp_path)


def column(client: Client, table: str, name: str) -> list[object]:
    registry = client.registry
    rows = restored_rows(registry.definitions(), registry.dataset_ids(), registry.given_values())
    return [row.get(name) for row in rows[table]]


def test_rows_are_given_back(client: Client) -> None:
    assert column(client, "source_systems", "source_name") == ["Number Feed"]
    assert column(client, "source_systems", "active") == ["1"]
    assert column(client, "source_objects", "layer") == ["BRONZE"]
    assert column(client, "source_objects", "owner") == ["tests"]
    assert column(client, "source_object_columns", "data_type") == ["bigint"]


def test_a_load_that_changes_no_definition_stores_them(client: Client, tmp_path: Path) -> None:
    assert load(client, tmp_path, OBJECT.replace("BRONZE", "Bronze")).apply_id is None
    assert column(client, "source_objects", "layer") == ["Bronze"]
    assert load(client, tmp_path, ROWS).apply_id is None
    assert column(client, "source_objects", "layer") == ["BRONZE"]


def test_a_load_that_is_refused_stores_nothing(client: Client, tmp_path: Path) -> None:
    before = client.registry.given_values()
    old = client.registry.plan(client.registry.definitions())
    load(client, tmp_path, SILVER)
    row = GivenRow(SYSTEM, "source_systems", (), {"source_name": "NUMBER FEED"})
    with pytest.raises(RegistryChanged):
        client.registry.apply(old, given=[row])
    assert client.registry.given_values()[SYSTEM] == before[SYSTEM]
