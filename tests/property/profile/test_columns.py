"""What is told of a whole table: all columns in their order, hidden ones without a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.profile import profile_version
from tests.support.lakes.plans import DATASET
from tests.support.lakes.published_tables import PublishedTable

SCHEMA = TableSchema(
    columns=(
        Column(name="id", type="long"),
        Column(name='odd "name"', type="string"),
        Column(name="Email", type="string"),
        Column(name="tags", type="array<string>"),
        Column(name="raw", type="binary"),
    )
)
ROWS: list[dict[str, Any]] = [
    {"id": 1, 'odd "name"': "x", "Email": "a@b.no", "tags": ["t"], "raw": b"1"},
    {"id": 2, 'odd "name"': None, "Email": None, "tags": None, "raw": None},
    {"id": 2, 'odd "name"': "x", "Email": "c@d.no", "tags": [], "raw": b""},
]


def taken(table: PublishedTable, *masked: str) -> Profile:
    return profile_version(table.resolve(Address(dataset=DATASET)), masked=masked)


def by_name(profile: Profile) -> dict[str, ColumnProfile]:
    return {column.column: column for column in profile.columns}


def test_every_column_in_its_order(tmp_path: Path) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish(ROWS[:1], ROWS[1:])
    profile = taken(table)
    assert (profile.dataset, profile.version, profile.rows) == (DATASET, 1, 3)
    assert profile.engine.startswith("duckdb ")
    assert [column.column for column in profile.columns] == list(SCHEMA.names)
    assert by_name(profile)['odd "name"'].top[0].rows == 2
    assert [column.nulls for column in profile.columns] == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["tags", "raw"])
def test_what_is_nested_or_bytes_is_only_counted(tmp_path: Path, name: str) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish(ROWS)
    found = by_name(taken(table))[name]
    assert found == ColumnProfile(column=name, type=found.type, nulls=1)


def test_nothing_is_told_of_a_hidden_column(tmp_path: Path) -> None:
    """Under whatever spelling of its name."""
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish(ROWS)
    profile = taken(table, "EMAIL")
    hidden = ColumnProfile(column="Email", type="string", nulls=1, masked=True)
    assert by_name(profile)["Email"] == hidden
    assert "@" not in profile.to_json()
    assert not by_name(profile)["id"].masked


def test_a_version_without_rows(tmp_path: Path) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish()
    profile = taken(table)
    assert (profile.rows, [column.nulls for column in profile.columns]) == (0, [0] * 5)


def test_a_file_that_is_older_than_a_column(tmp_path: Path) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish([{"id": 7}], ROWS)
    found = by_name(taken(table))
    assert (found["id"].nulls, found["Email"].nulls, found["Email"].distinct) == (0, 2, 2)


def test_the_version_that_was_asked_for(tmp_path: Path) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish(ROWS)
    first = table.resolve(Address(dataset=DATASET))
    table.publish(ROWS[:1])
    assert profile_version(first).rows == 3
    assert taken(table).rows == 1


def test_another_table_in_its_place_is_refused(tmp_path: Path) -> None:
    table = PublishedTable(tmp_path, SCHEMA)
    table.publish(ROWS)
    found = table.resolve(Address(dataset=DATASET))
    with pytest.raises(TableUnreadable, match="its table id is"):
        profile_version(found.model_copy(update={"table_id": "another"}))
