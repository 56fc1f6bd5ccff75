"""A lake in which runs ended in every way, for the assertions that testers have."""

from __future__ import annotations

from pathlib import Path

from lakeguard_sdk.testing import Lake

DEFINITIONS = """
source: orders
format: csv
path: exports/*.csv
---
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: long}
  amount: {type: "decimal(9,2)"}
  note: {type: string}
---
dataset: silver.orders
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
load: {type: APPEND}
columns:
  id: {type: long}
  amount: {type: "decimal(9,2)"}
  note: {type: string}
rules:
  - unique(id)
  - range(amount, min=0)
  - not_null(note) warn_if > 0
---
dataset: silver.numbers
owner: tests
domain: shop
description: Notes that are numbers.
parents: [bronze.orders]
build: {sql: sql/numbers.sql}
columns:
  number: {type: long}
---
dataset: silver.copies
owner: tests
domain: shop
description: All that came.
parents: [bronze.orders]
build: {sql: sql/copies.sql}
columns:
  id: {type: long}
---
dataset: gold.orders
owner: tests
domain: shop
parents: [silver.orders]
build: {sql: sql/gold.sql}
columns:
  id: {type: long}
---
dataset: silver.unbuilt
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
columns:
  id: {type: long}
---
dataset: silver.kept
owner: tests
domain: shop
description: What is not negative.
parents: [bronze.orders]
build: {sql: sql/kept.sql}
load: {type: APPEND}
columns:
  id: {type: long}
  amount: {type: "decimal(9,2)"}
rules:
  - range(amount, min=0) on_fail quarantine
  - unique(id)
---
policy: one_row_in_gold
applies_to: gold
type: VOLUME_CAP
expression: rows <= 1
---
policy: described
applies_to: silver
type: OWNERSHIP
expression: description required
enforcement: ALERT
"""
SQL = {
    "orders": "SELECT id, amount, note FROM bronze.orders",
    "numbers": "SELECT CAST(note AS BIGINT) AS number FROM bronze.orders",
    "copies": "SELECT id FROM bronze.orders",
    "kept": "SELECT id, amount FROM bronze.orders",
    "gold": "SELECT id FROM silver.orders",
}
FIRST = [
    {"id": 1, "amount": "1.50", "note": "seven"},
    {"id": 2, "amount": "2.00", "note": None},
]
SECOND = [{"id": 2, "amount": "-1.00", "note": "eight"}]


def walked_lake(folder: Path) -> Lake:
    """Of ``silver.orders`` the second batch is blocked, and ``silver.copies`` was rolled back."""
    lake = Lake(folder)
    for name, text in SQL.items():
        lake.write(f"sql/{name}.sql", text)
    lake.apply(DEFINITIONS)
    lake.write("exports/1.csv", FIRST)
    for name in ("bronze.orders", "silver.orders", "silver.copies", "silver.kept", "gold.orders"):
        lake.run(name)
    lake.write("exports/2.csv", SECOND)
    for name in ("bronze.orders", "silver.orders", "silver.copies", "silver.kept"):
        lake.run(name)
    lake.run("silver.numbers")
    lake.rollback("silver.copies", to=1)
    return lake
