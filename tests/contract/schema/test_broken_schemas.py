"""A version whose columns are no longer what others read invalidates all of it for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.row_ranges import WHOLE
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import End, InvalidationRow, Reason
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    SILVER,
    Client,
    dataset,
    definitions,
    project,
    publish,
)

BOTH = pytest.mark.usefixtures("each_state")
ROWS = {"2026-01": [1], "2026-02": [2]}
JANUARY = Window(column="month", start="2026-01", end="2026-01")
BREAKING = {
    "a column is gone": ({"x": "string"}, {}),
    "a type is narrower": ({"x": "long"}, {"x": "integer"}),
    "a type is another": ({"x": "string"}, {"x": "long"}),
    "a field is gone": ({"x": "struct<a:string,b:string>"}, {"x": "struct<a:string>"}),
    "an element is narrower": ({"x": "array<long>"}, {"x": "array<integer>"}),
}
KEEPING = {
    "nothing changed": ({"x": "string"}, {"x": "string"}),
    "a column is new": ({}, {"x": "string"}),
    "a type is wider": ({"x": "integer"}, {"x": "long"}),
    "a field is new": ({"x": "struct<a:string>"}, {"x": "struct<a:string,b:string>"}),
    "an element is wider": ({"x": "array<integer>"}, {"x": "array<long>"}),
    "a field is wider": ({"x": "struct<a:integer>"}, {"x": "struct<a:long>"}),
}


def changed(folder: Path, before: dict[str, str], after: dict[str, str]) -> Client:
    """Silver was built from bronze before bronze got other columns, of which it has a version."""
    silver = dataset(SILVER, BRONZE, load=LoadType.FULL)
    client = project(folder, dataset(BRONZE, load=LoadType.FULL, more=before), silver)
    for name in (BRONZE, SILVER):
        publish(client, name, ROWS)
    other = definitions(dataset(BRONZE, load=LoadType.FULL, more=after), silver)
    client.registry.apply(client.registry.plan(other))
    assert publish(client, BRONZE, ROWS).version == 2
    return client


def the_one(client: Client) -> InvalidationRow:
    (row,) = client.reader.invalidations(every=True)
    return row


@BOTH
def test_a_column_that_is_gone_is_invalid_for_those_who_read_it(tmp_path: Path) -> None:
    client = changed(tmp_path, {"x": "string"}, {})
    row = the_one(client)
    assert (row.dataset, row.reason, row.reach) == (BRONZE, Reason.SCHEMA_CHANGE, WHOLE)
    assert [(item.standing, item.version) for item in row.followers] == [
        ("caught_up", 2),
        ("ready", None),
    ]
    publish(client, SILVER, {"2026-01": [1]}, window=JANUARY)
    client.operations.reconcile()
    assert the_one(client).end is None, "a window of it is not all"
    publish(client, SILVER, ROWS)
    client.operations.reconcile()
    assert the_one(client).end is End.DONE
    publish(client, BRONZE, ROWS)
    assert the_one(client).end is End.DONE, "the same columns again break nothing"
    assert client.ledger.verify().findings == ()


@pytest.mark.parametrize("change", BREAKING)
def test_what_breaks_readers_is_told(tmp_path: Path, change: str) -> None:
    assert the_one(changed(tmp_path, *BREAKING[change])).reason is Reason.SCHEMA_CHANGE


@pytest.mark.parametrize("change", KEEPING)
def test_what_readers_can_go_on_with_is_not(tmp_path: Path, change: str) -> None:
    assert changed(tmp_path, *KEEPING[change]).reader.invalidations(every=True) == []


@BOTH
def test_nobody_is_told_where_nobody_has_read_it(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE, load=LoadType.FULL, more={"x": "string"}))
    publish(client, BRONZE, ROWS)
    other = definitions(dataset(BRONZE, load=LoadType.FULL))
    client.registry.apply(client.registry.plan(other))
    publish(client, BRONZE, ROWS)
    assert client.reader.invalidations(every=True) == []
