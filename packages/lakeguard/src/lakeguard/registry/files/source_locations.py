"""Where a source lies: a path of files, an address to download from, or a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from lakeguard.registry.text.fields import LONGEST_PATH
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.model.definitions import SourceDefinition

DOWNLOADED = frozenset({SourceFormat.CSV, SourceFormat.JSONL, SourceFormat.PARQUET})
"""Formats whose files may come from a web server."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
OBJECT = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}\.[A-Za-z_][A-Za-z0-9_$]{0,62}")
"""What of a database is read: ``schema.table``."""

_DATABASE = re.compile(r"jdbc:postgresql://[^\s/?#@{}]+/[^\s/?#@{}]+(\?[^\s#@{}]*)?")


def place_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    """What is wrong with path and url, where there is one of them; no text is repeated."""
    path, url = source.path, source.url
    if path and url:
        yield "url", "write path or url, not both"
    elif url:
        problem = url_problem(url, source.format)
        if problem:
            yield "url", problem
    elif source.format is SourceFormat.JDBC:
        yield "path", "a database is read from a url, such as jdbc:postgresql://host/database"
    else:
        problem = path_problem(path)
        if problem:
            yield "path", problem


def path_problem(path: str) -> str | None:
    if not path.strip() or len(path) > LONGEST_PATH or not path.isprintable():
        return "write a path on one line, such as data/orders-*.csv"
    scheme = path.partition("://")[0]
    if path.startswith(("http://", "https://", "jdbc:")):
        return "write it as url"
    if "://" in path and scheme != "file":
        return f"{scheme[:20]}:// is not available yet"
    return None


def url_problem(url: str, source_format: SourceFormat) -> str | None:
    if not url.isprintable() or len(url) > LONGEST_PATH or any(map(str.isspace, url)):
        return "write an address on one line, without blanks"
    if source_format is SourceFormat.JDBC:
        return None if _DATABASE.fullmatch(url) else _DATABASE_SHAPE
    if source_format not in DOWNLOADED:
        return f"{source_format} is read from a path"
    return _web_problem(url)


_DATABASE_SHAPE = (
    "write jdbc:postgresql://host/database; secrets user and password stand beside it, not in it"
)


def _web_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port == 0 or parts.scheme not in ("http", "https"):
        return "write an address such as https://host/orders.csv"
    if "@" in parts.netloc:
        return "write the host without a user before it"
    if "{" in parts.netloc or "}" in parts.netloc:
        return "a secret stands after the host, never in it"
    if re.search(r"[{}]", PLACEHOLDER.sub("", url)):
        return "a brace is open; write a secret's name as {name}"
    if parts.fragment:
        return "leave out what follows #; a server never sees it"
    return None
