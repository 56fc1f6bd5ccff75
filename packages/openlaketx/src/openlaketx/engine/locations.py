"""File locations in the syntax of each engine.

A staged file that is still on this machine is read there; all others where the lake is. A Spark on
other machines reads and writes in the object store only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lakeguard_sdk.storage.storage import (
    is_remote,
    local_path,
    staged_location,
    staged_path,
    storage_for,
)

_HADOOP_GLOB = re.compile(r"([\\{}\[\]*?])")
_DUCKDB_GLOB = re.compile(r"([\[*?])")
_LEFT_IN_ADDRESSES = "/_-!.~'()*:@&=+$,;"
_ESCAPED_IN_ADDRESSES = ("Cc", "Zl", "Zp", "Zs")
LOCAL_SPARK = "local[*]"
_S3A = "s3a://"
_S3 = "s3://"
_spark_is_here = [True]


def note_spark(*, is_here: bool) -> None:
    """Whether Spark shares the disks of this machine; a process uses one Spark."""
    _spark_is_here[0] = is_here


def shares_disks(options: Mapping[str, str]) -> bool:
    """Whether a Spark with these options runs on this machine only."""
    return "spark.remote" not in options and is_local_master(
        options.get("spark.master", LOCAL_SPARK)
    )


def is_local_master(master: str) -> bool:
    return master.startswith("local")


def spark_is_here() -> bool:
    return _spark_is_here[0]


def spark_path(location: str) -> str:
    """For ``frame.write``."""
    if not is_remote(location):
        return local_path(location)
    staged = staged_path(location) if spark_is_here() else None
    return staged or location.replace(_S3, _S3A, 1)


def spark_read_path(location: str) -> str:
    """For ``spark.read``: escapes glob characters."""
    return _HADOOP_GLOB.sub(r"\\\1", _spark_place(location))


def duckdb_path(location: str) -> str:
    """For ``read_parquet``: escapes glob characters."""
    return _DUCKDB_GLOB.sub(r"[\1]", duckdb_name(location))


def duckdb_name(location: str) -> str:
    """The name that DuckDB reports for a file."""
    return _held_here(location) or location


def spark_file_address(location: str) -> str:
    """The path that Spark reports for a row, with Java's escaping."""
    return "".join(
        quote(char, safe=_LEFT_IN_ADDRESSES)
        if char.isascii() or unicodedata.category(char) in _ESCAPED_IN_ADDRESSES
        else char
        for char in _spark_place(location)
    )


def spark_name(location: str) -> str:
    """The path that Spark reports for a row, unescaped and without ``file:``."""
    return _spark_place(location)


def location_of(name: str) -> str:
    """The location of a file, by the path or URI that an engine reported."""
    parts = urlsplit(name) if ":" in name else None
    if parts is None or parts.scheme not in ("file", "s3a"):
        return staged_location(name) or name
    path = unquote(parts.path)
    if parts.scheme == "file":
        return staged_location(path) or path
    return f"{_S3}{parts.netloc}{path}"


def writable_path(location: str) -> Path:
    """Where this process writes a file; what is staged is uploaded when it is made durable."""
    if not is_remote(location):
        return Path(local_path(location))
    staged = staged_path(location)
    if staged is None:
        raise ValueError(f"{location} is not in a staging area")
    return Path(staged)


def is_here(location: str) -> bool:
    """Whether this machine has the file."""
    return _held_here(location) is not None


def _held_here(location: str) -> str | None:
    """The local path of a file, or None if it is in the store only."""
    if not is_remote(location):
        return local_path(location)
    staged = staged_path(location)
    return staged if staged is not None and Path(staged).exists() else None


def _spark_place(location: str) -> str:
    """What is staged for a Spark elsewhere is uploaded first."""
    if spark_is_here():
        return _held_here(location) or location.replace(_S3, _S3A, 1)
    stored = location if is_remote(location) else staged_location(local_path(location))
    if stored is None:
        return local_path(location)
    storage_for(stored).make_durable(stored)
    return stored.replace(_S3, _S3A, 1)
