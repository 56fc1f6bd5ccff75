"""Checks the location of a source: file path, download URL or database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from lakeguard.registry.text.fields import LONGEST_PATH
from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.model.definitions import SourceDefinition

DOWNLOADED = frozenset({SourceFormat.CSV, SourceFormat.JSONL, SourceFormat.PARQUET})
"""Formats that can be downloaded over HTTP."""

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
OBJECT = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,62}\.[A-Za-z_][A-Za-z0-9_$]{0,62}")
"""A table of a database: ``schema.table``."""

_DATABASE = re.compile(r"jdbc:postgresql://[^\s/?#@{}]+/[^\s/?#@{}]+(\?[^\s#@{}]*)?")


def place_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    """Problems of path and url; messages never repeat their values."""
    path, url = source.path, source.url
    if source.format is SourceFormat.OTHER:
        return
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
        return "use url for this address"
    if "://" in path and scheme != "file":
        return f"{scheme[:20]}:// is not available yet"
    return None


def url_problem(url: str, source_format: SourceFormat) -> str | None:
    if not url.isprintable() or len(url) > LONGEST_PATH or any(map(str.isspace, url)):
        return "write a URL on one line, without spaces"
    if source_format is SourceFormat.JDBC:
        return _database_problem(url)
    if source_format not in DOWNLOADED:
        return f"{source_format} is read from a path"
    return _web_problem(url)


_DATABASE_SHAPE = (
    "write jdbc:postgresql://host/database; put user and password in secrets, not in the url"
)


DATABASE_PARAMETERS = (
    "ApplicationName",
    "connectTimeout",
    "currentSchema",
    "defaultRowFetchSize",
    "loadBalanceHosts",
    "loginTimeout",
    "prepareThreshold",
    "readOnly",
    "socketTimeout",
    "sslmode",
    "sslrootcert",
    "targetServerType",
    "tcpKeepAlive",
)
"""Parameters of a database URL. Others of the driver can load classes, write files or log in."""


def _database_problem(url: str) -> str | None:
    if not _DATABASE.fullmatch(url):
        return _DATABASE_SHAPE
    given = url.partition("?")[2]
    names = [pair.partition("=")[0] for pair in given.split("&")] if given else []
    if all(name in DATABASE_PARAMETERS for name in names):
        return None
    return f"after ? only these are allowed: {', '.join(DATABASE_PARAMETERS)}"


def _web_problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port == 0 or parts.scheme not in ("http", "https"):
        return "write a URL such as https://host/orders.csv"
    if "@" in parts.netloc:
        return "a user is not allowed in the URL"
    if "{" in parts.netloc or "}" in parts.netloc:
        return "a secret is allowed after the host only"
    if re.search(r"[{}]", PLACEHOLDER.sub("", url)):
        return "unbalanced brace; write a secret as {name}"
    if parts.fragment:
        return "remove the fragment after #; it is never sent to a server"
    return None
