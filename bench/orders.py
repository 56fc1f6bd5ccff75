"""The rows of the benchmarks: seventeen columns of clean orders, the same for every run."""

from __future__ import annotations

from pathlib import Path

import duckdb

COLUMNS = {
    "order_id": "string",
    "customer_id": "long",
    "email": "string",
    "status": "string",
    "country": "string",
    "currency": "string",
    "quantity": "integer",
    "unit_price": "decimal(9,2)",
    "discount": "double",
    "amount": "double",
    "tax": "double",
    "ordered_at": "timestamp",
    "shipped_at": "timestamp",
    "order_date": "date",
    "postcode": "string",
    "comment": "string",
    "gift": "boolean",
}

RULES = (
    "not_null(order_id)",
    "not_null(customer_id)",
    "unique(order_id) scope batch",
    "range(quantity, min=1, max=1000)",
    "range(discount, min=0, max=1)",
    "in_set(status, values=['NEW', 'PAID', 'SHIPPED', 'DONE', 'RETURNED'])",
    "regex(email, pattern='[a-z0-9._]+@[a-z0-9.]+[.][a-z]{2,}')",
    "length(postcode, min=5, max=5)",
    "compare(ordered_at <= shipped_at)",
    "max(order_date, max='2030-01-01')",
    "row_count(min=1)",
    "mean(amount, min=100, max=100000)",
)
"""Two not-null, a key unique in the batch, two ranges, a set, an e-mail pattern, a length, two
columns compared, the greatest date, the number of rows, the bounds of a mean."""

CHANCE = "CREATE MACRO chance(i) AS CAST(hash(i) % 1000000007 AS BIGINT)"
_SELECT = """
SELECT
    'ORD-' || lpad(CAST({key} AS VARCHAR), 11, '0') AS order_id,
    CAST(chance(i) % 100000 AS BIGINT) AS customer_id,
    'user' || (chance(i + 1) % 200000) || '@mail' || (i % 50) || '.example' AS email,
    ['NEW', 'PAID', 'SHIPPED', 'DONE', 'RETURNED'][1 + i % 5] AS status,
    ['DE', 'FR', 'IT', 'ES', 'PL', 'NL', 'SE'][1 + chance(i + 2) % 7] AS country,
    ['EUR', 'USD', 'GBP'][1 + chance(i + 3) % 3] AS currency,
    CAST(1 + chance(i + 4) % 20 AS INTEGER) AS quantity,
    CAST(1 + (chance(i + 5) % 99900) / 100.0 AS DECIMAL(9, 2)) AS unit_price,
    CAST((chance(i + 6) % 31) AS DOUBLE) / 100 AS discount,
    CAST(10 + chance(i + 7) % 500000 AS DOUBLE) / 7 AS amount,
    CAST(chance(i + 7) % 95000 AS DOUBLE) / 7 AS tax,
    TIMESTAMPTZ '2024-01-01 00:00:00Z' + to_seconds(chance(i + 8) % 31536000) AS ordered_at,
    TIMESTAMPTZ '2025-01-01 00:00:00Z' + to_seconds(chance(i + 9) % 864000) AS shipped_at,
    CAST(DATE '2024-01-01' + CAST(chance(i + 8) % 365 AS INTEGER) AS DATE) AS order_date,
    lpad(CAST(chance(i + 10) % 100000 AS VARCHAR), 5, '0') AS postcode,
    CASE WHEN i % 4 = 0 THEN NULL ELSE 'note ' || md5(CAST(i % 5000 AS VARCHAR)) END AS comment,
    i % 11 = 0 AS gift
FROM range({first}, {last}) AS t(i)
"""


_FORMS = {
    ".parquet": "FORMAT parquet, ROW_GROUP_SIZE 250000",
    ".csv": "FORMAT csv, HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ'",
}
_SCATTERED = "i * 7919000001 % 10000000019"
"""A prime and its multiples: every number another key, in no order."""


def write_orders(file: Path, rows: int, first: int = 0, *, scattered: bool = False) -> None:
    """One file of ``rows`` clean orders, from the order ``first`` on: Parquet, or CSV by name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(CHANCE)
        query = select_orders(first, rows, scattered=scattered)
        form = _FORMS[file.suffix]
        connection.execute(f"COPY ({query}) TO '{file}' ({form})")
    finally:
        connection.close()


def select_orders(first: int, rows: int, *, scattered: bool = False) -> str:
    """The query of the rows, for a connection that has ``CHANCE``."""
    key = _SCATTERED if scattered else "i"
    return _SELECT.format(first=first, last=first + rows, key=key)
