"""Columns made of others: one spelling as JSON, in every format that is text."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import TargetFormat
from tests.support.cases.nested_values import DECLARED, ROWS, SPELLED
from tests.support.lakes.published_tables import PublishedTable


@pytest.fixture
def world(tmp_path: Path) -> PublishedTable:
    table = PublishedTable(tmp_path, DECLARED)
    table.publish(ROWS)
    return table


def test_json_lines_hold_them_as_values(world: PublishedTable) -> None:
    world.deliver(TargetFormat.JSONL)
    lines = (world.files / "v1" / "part-00000.jsonl").read_text("utf-8").splitlines()
    assert sorted(map(json.loads, lines), key=lambda row: row["id"]) == SPELLED


def test_csv_holds_them_as_text(world: PublishedTable) -> None:
    world.deliver(TargetFormat.CSV)
    with (world.files / "v1" / "part-00000.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            {name: json.loads(text) if text else None for name, text in row.items()}
            for row in csv.DictReader(file, strict=True)
        ]
    assert sorted(rows, key=lambda row: row["id"]) == SPELLED


def test_parquet_holds_them_as_they_are(world: PublishedTable) -> None:
    world.deliver(TargetFormat.PARQUET)
    found = pq.read_table(world.files / "v1" / "part-00000.parquet").sort_by("id").to_pylist()
    assert list(map(str, found[1:3])) == list(map(str, ROWS[1:3]))
    assert found[0]["many"] == ROWS[0]["many"]
