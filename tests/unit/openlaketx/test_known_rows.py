"""Rows that are in quarantine already are recognised, each as often as it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openlaketx.quarantine.find_rows import holds_rows

NAN = float("nan")
ROWS: list[dict[str, Any]] = [
    {"id": 1, "x": NAN, "lg_rules": ["a"]},
    {"id": 1, "x": NAN, "lg_rules": ["a"]},
    {"id": None, "x": 0.5, "lg_rules": ["a", "b"]},
]


def file(folder: Path, name: str, rows: list[dict[str, Any]]) -> str:
    types = [("id", pa.int64()), ("x", pa.float64()), ("lg_rules", pa.list_(pa.string()))]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(types)), folder / name)
    return str(folder / name)


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (ROWS, True),
        (ROWS[1:], True),
        ([*ROWS, ROWS[0]], False),
        ([{**ROWS[2], "x": 0.25}], False),
        ([{**ROWS[2], "lg_rules": ["a"]}], False),
    ],
)
def test_rows_are_compared_with_their_rules(
    tmp_path: Path, found: list[dict[str, Any]], known: bool
) -> None:
    there, new = file(tmp_path, "there.parquet", ROWS), file(tmp_path, "new.parquet", found)
    assert holds_rows([there], [new], ("id", "x", "lg_rules")) is known


def test_rows_of_other_columns_are_not_known(tmp_path: Path) -> None:
    there, new = file(tmp_path, "there.parquet", ROWS), file(tmp_path, "new.parquet", ROWS)
    assert holds_rows([there], [new], ("id", "y")) is False
