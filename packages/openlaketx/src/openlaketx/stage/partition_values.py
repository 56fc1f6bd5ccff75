"""The partition of a staged file, proved by its own footer.

Files keep their partition columns, as readers of Delta allow: whoever reads them by name sees
every column in its exact type, and no value passes through the name of a folder.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pyarrow.parquet as pq

from lakeguard_sdk.schema import TableSchema
from openlaketx.stage.footer_ranges import column_range, leaf_indexes


class NoPartition(ValueError):
    """The rows of a file are not of one partition, or of one that Delta cannot name."""


def partition_values(
    footer: pq.FileMetaData, declared: TableSchema, partition_by: tuple[str, ...]
) -> dict[str, str | None]:
    """The one value of each partition column, as Delta's log spells it; None is NULL."""
    return {name: _value(footer, declared, name) for name in partition_by}


def _value(footer: pq.FileMetaData, declared: TableSchema, name: str) -> str | None:
    data_type = str(declared.type_of(name))
    place = leaf_indexes(declared)[name]
    found = column_range([footer], place, raw=data_type != "boolean")
    if found.nulls is None or not found.bounded:
        raise NoPartition(f"partition column {name} has a value that is too long")
    if found.nulls == found.values:
        return None
    if found.nulls or found.lowest != found.highest:
        raise NoPartition(f"rows of several values of {name} are in one file")
    text = _text(found.lowest, data_type, name)
    if not text:
        raise NoPartition(
            f"partition column {name} has an empty text, which Delta would read as NULL:"
            " give those rows a value, or NULL"
        )
    return text


def _text(value: Any, data_type: str, name: str) -> str:
    if data_type == "boolean":
        return "true" if value else "false"
    if data_type in ("integer", "long"):
        return str(int(value))
    try:
        if data_type == "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        return str(value, "utf-8")
    except (OverflowError, UnicodeDecodeError):
        raise NoPartition(f"partition column {name} has a value that cannot be written") from None
