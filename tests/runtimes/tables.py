"""What lies on a lake, told by a reader that knows no Spark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from lakeguard_sdk import connect
from lakeguard_sdk.core.dataset_name import parse_address
from openlaketx.engine.delta_table import live_files, open_table

Table = tuple[int, list[tuple[str, str]], list[tuple[Any, ...]]]


def tables(folder: Path, names: Iterable[str]) -> dict[str, Table]:
    """Version, columns and rows of each dataset as it is published."""
    reader = connect(folder).reader
    found = {name: reader.resolve(parse_address(name)) for name in names}
    return {
        name: (item.version, *_rows(item.location, item.commit)) for name, item in found.items()
    }


def _rows(location: str, commit: int) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    files = [f"{location}/{path}" for path in live_files(open_table(location, commit))]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.execute("SELECT * FROM read_parquet($f) ORDER BY ALL", {"f": files})
        columns = [(name, str(kind)) for name, kind, *_ in rows.description or []]
        return columns, rows.fetchall()
