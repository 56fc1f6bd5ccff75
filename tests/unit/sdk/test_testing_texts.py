"""Definitions and rows that stand in a test become the files that a lake reads."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from lakeguard_sdk.errors import BadName, WrongArgument
from lakeguard_sdk.testing.lake import definition_files, file_text


def test_each_definition_gets_the_file_of_its_name() -> None:
    found = definition_files(
        """
        # where rows come from
        source: orders
        path: exports/*.csv
        ---
        dataset: silver.orders
        columns:
          source: {type: string}
        ---
        policy: no_pii
        """
    )
    assert list(found) == [
        "definitions/sources/orders.yaml",
        "definitions/silver/orders.yaml",
        "definitions/policies/no_pii.yaml",
    ]
    assert found["definitions/silver/orders.yaml"].startswith("dataset: silver.orders\ncolumns:\n")


def test_an_empty_text_defines_nothing() -> None:
    assert definition_files("") == {}


def test_a_text_without_a_name_is_refused() -> None:
    with pytest.raises(WrongArgument, match="defines nothing"):
        definition_files("owner: shop-team\n")
    with pytest.raises(BadName):
        definition_files("dataset: orders\n")


def test_rows_as_csv_keep_null_and_the_empty_text_apart() -> None:
    rows = [
        {"id": 1, "text": None, "at": date(2026, 1, 5), "price": Decimal("1.50")},
        {"price": True, "id": 2, "text": "", "at": datetime(2026, 1, 5, 8, tzinfo=UTC)},
        {"id": 3, "text": 'a,"b"\nc', "at": None, "price": " x"},
    ]
    assert file_text("in/a.csv", rows) == (
        "id,text,at,price\n"
        "1,,2026-01-05,1.50\n"
        '2,"",2026-01-05T08:00:00+00:00,true\n'
        '3,"a,""b""\nc",," x"\n'
    )


def test_rows_as_json_lines() -> None:
    text = file_text("in/a.jsonl", [{"id": 1, "tags": ["a"]}, {"at": date(2026, 1, 5)}])
    assert [json.loads(line) for line in text.splitlines()] == [
        {"id": 1, "tags": ["a"]},
        {"at": "2026-01-05"},
    ]


@pytest.mark.parametrize(
    ("path", "rows", "expected"),
    [
        ("in/a.csv", [], "no rows for in/a.csv"),
        ("in/a.parquet", [{"id": 1}], "rows for in/a.parquet"),
        ("in/a.csv", [{"id": 1}, {"idd": 1}], "row 2 for in/a.csv with idd"),
    ],
)
def test_rows_that_no_file_can_hold_are_refused(
    path: str, rows: list[dict[str, int]], expected: str
) -> None:
    with pytest.raises(WrongArgument) as refused:
        file_text(path, rows)
    assert expected in str(refused.value)
