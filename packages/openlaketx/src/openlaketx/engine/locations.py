"""File locations in the syntax of each engine."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from lakeguard_sdk.storage.storage import local_path

_HADOOP_GLOB = re.compile(r"([\\{}\[\]*?])")
_DUCKDB_GLOB = re.compile(r"([\[*?])")
_LEFT_IN_ADDRESSES = "/_-!.~'()*:@&=+$,;"
_ESCAPED_IN_ADDRESSES = ("Cc", "Zl", "Zp", "Zs")


def spark_read_path(location: str) -> str:
    """For ``spark.read``: escapes glob characters."""
    return _HADOOP_GLOB.sub(r"\\\1", local_path(location))


def duckdb_path(location: str) -> str:
    """For ``read_parquet``: escapes glob characters."""
    return _DUCKDB_GLOB.sub(r"[\1]", local_path(location))


def spark_file_address(location: str) -> str:
    """The path that Spark reports for a row, with Java's escaping."""
    return "".join(
        quote(char, safe=_LEFT_IN_ADDRESSES)
        if char.isascii() or unicodedata.category(char) in _ESCAPED_IN_ADDRESSES
        else char
        for char in local_path(location)
    )
