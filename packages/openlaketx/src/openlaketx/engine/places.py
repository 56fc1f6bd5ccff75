"""Locations as each engine wants them written."""

from __future__ import annotations

import re

from lakeguard_sdk.storage import local_path

_HADOOP_GLOB = re.compile(r"([\\{}\[\]*?])")
_DUCKDB_GLOB = re.compile(r"([\[*?])")


def spark_read_path(location: str) -> str:
    """For ``spark.read``: exactly this file, though Spark takes paths for patterns."""
    return _HADOOP_GLOB.sub(r"\\\1", local_path(location))


def duckdb_path(location: str) -> str:
    """For ``read_parquet``: exactly this file, though DuckDB takes paths for patterns."""
    return _DUCKDB_GLOB.sub(r"[\1]", local_path(location))
