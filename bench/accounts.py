"""The rows of the merge benchmarks: accounts with a key, attributes and a time of change."""

from __future__ import annotations

from pathlib import Path

import duckdb

COLUMNS = {
    "id": "long",
    "owner": "string",
    "country": "string",
    "status": "string",
    "balance": "decimal(12,2)",
    "score": "double",
    "visits": "integer",
    "note": "string",
    "born_on": "date",
    "changed_at": "timestamp",
}
RULES = ("not_null(id)", "unique(id)", "range(visits, min=0)")
HISTORY_RULES = ("not_null(id)", "unique(id, valid_from)", "range(visits, min=0)")

_CHANCE = "CREATE MACRO chance(i) AS CAST(hash(i) % 1000000007 AS BIGINT)"
_ROW = """
SELECT
    CAST(id AS BIGINT) AS id,
    'owner ' || (chance(id) % 5000000) AS owner,
    ['DE', 'FR', 'IT', 'ES', 'PL', 'NL', 'SE'][1 + chance(id + 1) % 7] AS country,
    ['NEW', 'OPEN', 'IDLE', 'SHUT'][1 + chance(id * 31 + {round}) % 4] AS status,
    CAST((chance(id * 17 + {round}) % 99999900) / 100.0 AS DECIMAL(12, 2)) AS balance,
    CAST(chance(id * 13 + {round}) % 1000003 AS DOUBLE) / 7 AS score,
    CAST(chance(id + {round}) % 1000 AS INTEGER) AS visits,
    'note ' || md5(CAST(id % 50000 + {round} AS VARCHAR)) AS note,
    CAST(DATE '1950-01-01' + CAST(chance(id + 2) % 20000 AS INTEGER) AS DATE) AS born_on,
    TIMESTAMPTZ '2024-01-01 00:00:00Z' + INTERVAL ({round}) DAY AS changed_at
FROM ({ids}) AS ids(id)
"""


def write_accounts(file: Path, ids: str, number: int) -> None:
    """One Parquet file: the accounts whose ids a query names, as of a round."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(_CHANCE)
        query = _ROW.format(round=number, ids=ids)
        connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 500000)")


def all_ids(rows: int) -> str:
    return f"SELECT range FROM range({rows})"


def scattered_ids(rows: int, number: int) -> str:
    """One in a hundred of the rows there were, anywhere, and as many new ones after them."""
    share = rows // 100
    fresh = rows + (number - 1) * share
    return (
        f"SELECT DISTINCT chance(range * 7919 + {number}) % {rows} FROM range({share})"
        f" UNION ALL SELECT range FROM range({fresh}, {fresh + share})"
    )


def clustered_ids(rows: int, number: int) -> str:
    """As many rows, but next to each other."""
    share = rows // 100
    start = (number * 7) % 50 * share
    fresh = 2 * rows + (number - 1) * share
    return (
        f"SELECT range FROM range({start}, {start + share})"
        f" UNION ALL SELECT range FROM range({fresh}, {fresh + share})"
    )
