"""Orders of which one in a hundred fails a rule, and rules that quarantine those rows."""

from __future__ import annotations

from pathlib import Path

import duckdb

from bench.orders import RULES, write_orders

DIRTY_RULES = tuple(
    f"{rule} on_fail quarantine" if rule.startswith("range(quantity") else rule for rule in RULES
)
_SPOILT = "CASE WHEN hash(order_id) % 100 = 0 THEN 0 ELSE quantity END"


def write_dirty_orders(file: Path, rows: int) -> None:
    """The clean orders, but for the quantity of every hundredth, which are anywhere among them."""
    clean = file.with_name(f"clean-{file.name}")
    write_orders(clean, rows)
    query = f"SELECT * REPLACE (CAST({_SPOILT} AS INTEGER) AS quantity) FROM '{clean}'"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 250000)")
    clean.unlink()
